"""Measurements of speed over populations, dimensions and runs."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from skde import get_problem
from skde.algorithms import ALGORITHMS, SS
from skde.algorithms.base import MOST_INDIVIDUALS
from skde.benchmark import peers, scale, scale_peers, scale_sizes, scale_table
from skde.benchmark.scale import Forecast, ScaleMeasurement
from skde.benchmark.scale_peers import PEERS, ScalePeer, scale_peer_notes
from skde.benchmark.scale_sizes import AXES, Cell, ScaleSettings
from skde.cli.main import main
from skde.engines import CpuEngine

SETTINGS = ScaleSettings(("de", "ss"), ("float64",), ("population",), repeats=3, seconds=0.001)


def make_fake(problem: Any, pop_size: int, dtype: str, device: str) -> Any:
    """Return a peer that does nothing, and fails at 40 individuals."""
    if pop_size == 40:
        raise RuntimeError("it fails\nat this size")
    return lambda generations: generations * pop_size


class Fake(ScalePeer):
    """A peer that is always there."""

    present = True


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure two sizes of each axis in a moment, with a peer of DE."""
    axes = {"population": ((2, 20, 1), (2, 40, 1)), "runs": ((2, 10, 1), (2, 10, 3))}
    monkeypatch.setattr(scale_sizes, "AXES", axes)
    monkeypatch.setattr(scale, "COPY_BYTES", 2**16)
    monkeypatch.setattr(scale, "PEERS", (Fake("fake", "de", "none", ("cpu",), ("float64",), make_fake),))
    monkeypatch.setattr(scale, "seconds_of", lambda run, generations: 1e-4 * generations + 0.01)


def measured(settings: ScaleSettings = SETTINGS) -> dict[str, Any]:
    """Return the record of a measurement on the CPU."""
    measurement = ScaleMeasurement(CpuEngine(1), settings)
    measurement.run()
    return measurement.record("command")


def test_record() -> None:
    record = measured()
    assert record["complete"]
    assert record["command"] == "command"
    assert len(record["memory"]["copy_bytes_per_second"]) == scale.COPIES
    rows = record["figures"]
    assert [(row["algorithm"], row["pop_size"]) for row in rows] == [("de", 20), ("de", 40), ("ss", 20), ("ss", 40)]
    for row in rows:
        assert len(row["us"]) == 3
        assert min(row["us"]) > 0
        assert row["largest"] > row["pop_size"]
    assert [row["trials"] for row in rows] == [20, 40, 20, 42]
    # A peer's fixed cost of 0.01 s is not in its time.
    assert [row["peers"] for row in rows] == [{"fake": pytest.approx([100.0] * 3)}, {}, {}, {}]
    failed = [entry for entry in record["left_out"] if entry["program"] == "fake"]
    assert [(entry["pop_size"], entry["reason"]) for entry in failed] == [(40, "it fails")]


def test_derived_figures() -> None:
    row = {"algorithm": "de", "dtype": "float64", "dim": 30, "n_runs": 2, "trials": 100, "us": [50.0, 100.0, 200.0]}
    row["peers"] = {"fake": [100.0, 300.0, 400.0]}
    found = scale_table.derive_figures(row, {"memory": {"copy_bytes_per_second": [1e9, 2e9, 9e9]}})
    assert found["us"] == 100
    assert found["ns_per_evaluation"] == pytest.approx(500)
    assert found["evaluations_per_second"] == pytest.approx(2e6)
    assert scale_table.traffic(row) == 200 * (5 * 30 + 2) * 8
    assert found["bandwidth"] == pytest.approx(200 * 152 * 8 / 100e-6)
    assert found["share"] == pytest.approx(found["bandwidth"] / 2e9)
    assert found["ratios"] == {"fake": 2.0}


def test_table() -> None:
    record = measured()
    text = scale_table.format_scale(record)
    assert "population, float64" in text
    assert "fake: de float64 D=2 NP=40: it fails" in text
    ratio = scale_table.derive_figures(record["figures"][0], record)["ratios"]["fake"]
    assert f"fake {ratio:.3g}" in text


def test_every_size_is_measured_or_left_out_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(spec: Any, n_runs: int, xp: Any) -> None:
        if spec.pop_max == 40:
            raise MemoryError("it needs 1 TiB")

    monkeypatch.setattr(scale, "check_batch_memory", refuse)
    record = measured(ScaleSettings(("de", "jade"), ("float64",), ("population", "runs"), repeats=1, seconds=0.001))
    missing = [(entry["algorithm"], entry["pop_size"]) for entry in record["left_out"]]
    assert missing == [("de", 40), ("jade", 40)]
    assert {entry["reason"] for entry in record["left_out"]} == {"it needs 1 TiB"}
    assert len(record["figures"]) == 6


def test_slow_sizes_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale, "generation_us", lambda engine, make, generations, warm: 1e6)
    record = measured(ScaleSettings(("jade",), ("float32",), ("population",), repeats=2, limit=10))
    assert [row["pop_size"] for row in record["figures"]] == [20]
    assert record["left_out"][0]["reason"] == (
        "a generation would take about 2 s; 2 repeats of 4 generations take more than the limit of 10 s"
    )


def test_forecast_follows_the_growth() -> None:
    cells = [Cell("population", "jade", "float64", 30, 10**k, 1) for k in range(2, 6)]
    forecast = Forecast()
    assert forecast.seconds("skde", cells[0]) == 0
    forecast.add("skde", cells[0], 1e-6)
    assert forecast.seconds("skde", cells[1]) == pytest.approx(1e-5)
    forecast.add("skde", cells[1], 1e-4)
    assert forecast.seconds("skde", cells[2]) == pytest.approx(1e-2)
    assert forecast.seconds("peer", cells[2]) == 0


@pytest.mark.parametrize("last", [2, 3])  # calls for the first cell; to prepare the second, and to measure it
def test_an_interrupted_measurement_has_a_record(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, last: int
) -> None:
    calls = iter(range(100))

    def interrupted(engine: Any, make: Any, generations: int, warm: int) -> float:
        if next(calls) == last:
            raise KeyboardInterrupt
        return 10.0

    monkeypatch.setattr(scale, "generation_us", interrupted)
    arguments = ["--algorithms", "jade", "--axis", "population", "--dtype", "float64", "--json"]
    assert main(["bench", "speed", "--scale", *arguments]) == 130
    record = json.loads(capsys.readouterr().out)
    assert not record["complete"]
    assert [(row["pop_size"], row["us"]) for row in record["figures"]] == [(20, [10.0])]
    assert [(entry["pop_size"], entry["reason"]) for entry in record["left_out"]] == [(40, "interrupted")]


def test_command(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    file = tmp_path / "scale.json"
    arguments = ["--quick", "--algorithms", "de", "--axis", "runs", "--seconds", "0.001", "--out", str(file)]
    assert main(["bench", "speed", "--scale", *arguments]) == 0
    assert "runs, float32" in capsys.readouterr().out
    record = json.loads(file.read_text())
    assert record["settings"]["quick"]
    assert [(row["dtype"], row["n_runs"]) for row in record["figures"]] == [
        *(("float32", 1), ("float32", 3), ("float64", 1), ("float64", 3))
    ]
    assert '\n  {"axis":"runs","algorithm":"de","dtype":"float32"' in file.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--axis", "runs"], "--axis needs --scale"),
        (["--quick"], "--quick needs --scale"),
        (["--scale", "--threads", "2"], "--threads has no effect with --scale"),
        (["--scale", "--axis", "pop"], "each of axes must be one of"),
        (["--scale", "--algorithms", "DE"], "each of algorithms must be one of"),
        (["--scale", "--dtype", "float16"], "each of dtypes must be one of"),
        (["--scale", "--limit", "0"], "limit must be a number in (0, inf]"),
        (["--scale", "--seconds", "-1"], "seconds must be a number in (0, inf]"),
    ],
)
def test_bad_input(capsys: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    assert main(["bench", "speed", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_sizes_span_the_axes() -> None:
    """The constants, not those of the fixture."""
    assert [pop for _, pop, _ in AXES["population"]] == [10**k for k in range(2, 7)]
    assert [dim for dim, _, _ in AXES["dimension"]][-1] == [runs for _, _, runs in AXES["runs"]][-1] == 10**4
    for sizes in AXES.values():
        components = [dim * pop * runs for dim, pop, runs in sizes]
        assert components == sorted(components)


def test_quick_has_the_small_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scale_sizes, "AXES", AXES)
    cells = list(ScaleSettings(("de",), ("float64",), tuple(AXES), quick=True).cells())
    assert max(cell.components for cell in cells) == scale_sizes.QUICK_COMPONENTS
    assert len(cells) < len(list(ScaleSettings(("de",), ("float64",), tuple(AXES)).cells()))


def test_scatter_search_has_a_pool_of_the_size() -> None:
    for size in (20, 100, 10_000, 10**6):
        algorithm = scale_sizes.algorithm_of_size("ss", size)
        assert isinstance(algorithm, SS)
        assert scale_sizes.trials_of("ss", size) == pytest.approx(size, rel=0.11)
    assert scale_sizes.trials_of("ss", SS.most_trials) == SS.most_trials


@pytest.mark.parametrize("name", ALGORITHMS)
def test_algorithms_make_the_trials_of_a_size(name: str) -> None:
    least = 0.89 if name == "ss" else 1.0
    for size in (50, 1000):
        assert least * size <= scale_sizes.trials_of(name, size) <= size / least


def test_largest_population_fits_and_the_next_one_does_not() -> None:
    room = 10**8
    found = scale_sizes.largest_population("jade", "float32", 30, 2, room)
    assert scale_sizes.batch_bytes("jade", "float32", 30, found, 2) <= room
    assert scale_sizes.batch_bytes("jade", "float32", 30, found + 1, 2) > room
    assert scale_sizes.largest_population("de", "float32", 30, 1, 1000) == 0
    assert scale_sizes.largest_population("de", "float32", 2, 1, 10**15) == MOST_INDIVIDUALS
    assert scale_sizes.largest_population("de", "float32", 2, 1, None) is None


def test_copies_move_as_many_bytes_as_they_say() -> None:
    class Copies(CpuEngine):
        def copy_array(self, target: Any, source: Any) -> None:
            sizes.append(source.nbytes)
            np.copyto(target, source)

    sizes: list[int] = []
    assert all(rate > 0 for rate in scale.copy_rates(Copies(1), 2**20))
    assert sizes == [2**16] * (scale.COPIES + 1)
    scale.copy_rates(Copies(1), 2**17)
    assert sizes[-1] == 2**14


def test_absent_peers_are_recorded() -> None:
    notes = scale_peer_notes()
    assert set(notes) == {f"{peer.name} {peer.algorithm}" for peer in PEERS}
    for peer in PEERS:
        assert (notes[f"{peer.name} {peer.algorithm}"] == "absent") == (not peer.present)


def test_a_peer_that_cannot_be_imported_is_left_out_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def needs_more(problem: Any, pop_size: int, dtype: str, device: str) -> Any:
        raise ModuleNotFoundError("No module named 'loguru'")

    monkeypatch.setattr(peers, "BROKEN", {})
    peer = ScalePeer("sklearn", "de", "installed", ("cpu",), ("float64",), needs_more)
    monkeypatch.setattr(scale, "PEERS", (peer,))
    monkeypatch.setattr(scale_peers, "PEERS", (peer,))
    assert peer.present
    record = measured()
    left_out = [(entry["program"], entry["pop_size"], entry["reason"]) for entry in record["left_out"]]
    assert left_out == [("sklearn", 20, "sklearn cannot be imported: No module named 'loguru'")]
    assert [row["pop_size"] for row in record["figures"]] == [20, 40, 20, 40]
    assert record["settings"]["peers"] == {"sklearn de": "sklearn cannot be imported: No module named 'loguru'"}
    assert "cannot be imported: No module named 'loguru'" in scale_table.format_scale(record)


def test_peers_are_compared_where_they_run() -> None:
    pygmo = next(peer for peer in PEERS if peer.name == "pygmo")
    assert pygmo.has("de", "float64", "cpu")
    assert not pygmo.has("de", "float32", "cpu")
    assert not pygmo.has("de", "float64", "cuda:0")
    assert not pygmo.has("pso", "float64", "cpu")


@pytest.mark.filterwarnings("default")  # other libraries warn where they are imported
@pytest.mark.parametrize(
    "peer", [peer for peer in PEERS if peer.present], ids=lambda peer: f"{peer.name}-{peer.algorithm}"
)
def test_peers_count_what_they_do(peer: ScalePeer) -> None:
    run = peer.make(get_problem("rastrigin", dim=5), 20, peer.dtypes[-1], "cpu")
    assert run(11) - run(5) == 6 * 20


@pytest.mark.gpu
def test_gpu_record() -> None:
    from skde.engines import choose_device

    measurement = ScaleMeasurement(
        choose_device("cuda")[0], ScaleSettings(("de", "ss"), ("float32",), ("population",), seconds=0.001)
    )
    measurement.run()
    record = measurement.record()
    assert record["driver"]["driver"] > 0
    assert len(record["figures"]) == 4
    assert "float32" in scale_table.format_scale(json.loads(json.dumps(record)))
