"""The arrays of a batch."""

from __future__ import annotations

from skde import LSHADE, Minimizer
from skde.constants import CONSTANTS


def test_restored_bests_are_members_of_a_population_that_has_shrunk() -> None:
    piece = CONSTANTS["BEST_PIECE"]
    m = Minimizer(LSHADE(pop_size=2 * piece), bounds=[(-1.0, 1.0)] * 2, max_iter=8, random_state=0, device="cpu")
    for _ in range(3):
        X = m.ask()
        m.tell(X, (X * X).sum(axis=1))
    batch = m._fit.batch
    state = batch.state()
    size = int(batch.sizes(state["generation"])[0])
    assert piece < size < 2 * piece
    state["f"][:, size:] = -1.0  # of an earlier generation
    batch.restore(state)
    best = [begin + state["f"][0, begin : min(begin + piece, size)].argmin() for begin in (0, piece)]
    assert batch.host("bests").tolist() == [best]
