"""Saved fits: complete, broken and foreign files, and those of other versions."""

from __future__ import annotations

import io
import json
import os
import re
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import DE, PSO, SS, Migration, Minimizer, MinMaxSolver, Status
from skde.algorithms import ALGORITHMS
from skde.fit.fit import Fit
from skde.fit.phases.population import Population
from skde.utils import serialization

from .short_fits import BOX, f, fit


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    """Return the file of a short fit."""
    path = tmp_path / "fit.skde"
    fit("sphere", fit_options={"dim": 3}).save(path)
    return path


def test_files_of_other_formats_are_refused(saved: Path, tmp_path: Path) -> None:
    whole = saved.read_bytes()
    other = tmp_path / "other"
    for content in (b"", b"hello", whole[: len(whole) // 2], whole[:-30], os.urandom(1000)):
        other.write_bytes(content)
        with pytest.raises(ValueError, match=r"other' is broken or not a file that skde saved"):
            Minimizer.load(other)
    for size in range(0, len(whole), 97):
        other.write_bytes(whole[:size])
        with pytest.raises(ValueError, match=r"other' is broken or not a file that skde saved"):
            Minimizer.load(other)
    np.savez(tmp_path / "foreign.npz", a=np.zeros(3))
    with pytest.raises(ValueError, match="not a file that skde saved"):
        Minimizer.load(tmp_path / "foreign.npz")
    with pytest.raises(FileNotFoundError):
        Minimizer.load(tmp_path / "missing")


def loaded(path: Path) -> Any:
    """Return the best value in a file, or the error's words."""
    try:
        return Minimizer.load(path).fun_
    except ValueError as error:
        return str(error)


def test_files_with_a_flipped_bit(saved: Path) -> None:
    """Every file is refused, except for bits without a meaning, such as the dates inside."""
    whole, fun = saved.read_bytes(), loaded(saved)
    rng = np.random.default_rng(0)
    refused = 0
    # The list of contents at the end is what a reader takes on trust: many of its bytes, and some of the others.
    for byte in [*rng.integers(len(whole), size=100).tolist(), *range(len(whole) - 1200, len(whole), 5)]:
        spoilt = bytearray(whole)
        spoilt[byte] ^= 1 << int(rng.integers(8))
        saved.write_bytes(spoilt)
        found = loaded(saved)
        if found != fun:
            assert re.search(r"fit.skde' is (broken|incomplete|not a file)", str(found)), found
            refused += 1
    assert refused > 100


def rewrite(path: Path, **changes: Any) -> None:
    """Change a file's header."""
    with np.load(path) as file:
        arrays = {name: file[name] for name in file.files}
    header = json.loads(arrays.pop("header").tobytes()) | changes
    with path.open("wb") as stream:
        np.savez(stream, header=np.frombuffer(json.dumps(header).encode(), np.uint8), **arrays)


def test_files_of_another_version_or_incomplete(saved: Path) -> None:
    rewrite(saved, version=99)
    with pytest.raises(ValueError, match="saved in version 99 of the format; this skde reads 2"):
        Minimizer.load(saved)
    rewrite(saved, version=2, algorithms=[])
    with pytest.raises(ValueError, match="is incomplete"):
        Minimizer.load(saved)


def test_a_wrong_device_is_not_taken_for_a_broken_file(saved: Path) -> None:
    with pytest.raises(
        ValueError, match="device must be 'auto', 'cpu', 'cuda', 'cuda:N' or a list of devices, got 'gpu'"
    ):
        Minimizer.load(saved, device="gpu")


def test_a_function_must_be_given_again(tmp_path: Path) -> None:
    fit().save(tmp_path / "fit")
    with pytest.raises(ValueError, match=r"resume needs the objective again \(it was .*:f\)"):
        Minimizer.load(tmp_path / "fit").resume()
    resumed = Minimizer.load(tmp_path / "fit").set_params(max_iter=20).resume(f)
    assert np.array_equal(resumed.x_, fit(max_iter=20).x_)


def test_numpys_true_stops_and_a_dtype_object_is_saved(tmp_path: Path) -> None:
    m = fit(callbacks=lambda progress: np.bool_(True), dtype=np.float32)
    assert m.runs_[0].status == Status.CALLBACK
    m.save(tmp_path / "fit")
    assert Minimizer.load(tmp_path / "fit").population_.dtype == np.float32


@pytest.mark.parametrize("evals", [600, 12_000])
@pytest.mark.parametrize("low", [0.1, 0.7])
def test_single_precision_polishes_to_a_rounded_bound(evals: int, low: float, tmp_path: Path) -> None:
    m = Minimizer(max_evals=evals, dtype="float32", random_state=0)
    m.fit(lambda X: np.abs(X - low).sum(axis=1), bounds=[(low, 1.0)] * 2)
    assert m.polish_evals_ > 0
    inside = np.float32(low) if float(np.float32(low)) >= low else np.nextafter(np.float32(low), np.float32(1))
    assert (m.x_ == inside).all()
    m.save(tmp_path / "fit")
    assert (Minimizer.load(tmp_path / "fit").x_ == m.x_).all()


# Entries that a file may not hold: the algorithm, the entry, the index, the value, and the words of the error.
CRAFTED: list[tuple[Any, str, Any, Any, str]] = [
    ("jde", "x", (0, 0, 0), np.nan, "individuals must be inside their bounds"),
    ("jde", "x", (0, 0, 0), 900.0, "individuals must be inside their bounds"),
    ("jde", "extra", (0, 0, 0), np.nan, "F must be numbers in"),
    ("jde", "generation", 0, -1, "generations must be"),
    ("jde", "generation", 0, 2**62, "evaluations up to a generation must be below"),
    ("jde", "status", 0, 6, "states must be among"),
    ("jde", "since", (0, 0), -1, "generations of improvements"),
    ("jde", "met", 0, 2**40, "generations of meetings"),
    ("jde", "limits", 0, -1, "limits must be >= 0"),
    ("jde", "marks", (0, 0), np.nan, "generations and seconds must be numbers"),
    ("jde", "box", (0, 0), np.inf, "must be finite"),
    ("jde", "start", ..., np.zeros((1, 2)), "x0 must have shape"),
    ("jde", "start", ..., np.full((1, 3), 900.0), "is outside its bounds"),
    ("shade", "order", (0, 0), 2**40, "individuals' numbers must be"),
    ("shade", "order", (0, 0), -1, "individuals' numbers must be"),
    ("shade", "order", (0, slice(None)), 0, "ranks must be a permutation"),
    ("shade", "memory", (slice(None), 0, 0), 2.0**31, "entries to be written next must be whole numbers"),
    ("shade", "memory", (slice(None), 0, 0), 0.5, "entries to be written next must be whole numbers"),
    ("shade", "memory", (slice(None), 0, 1), -1e9, "rows in the archive must be whole numbers"),
    ("shade", "memory", (0, 0, 2), -1e300, "entries of F must be"),  # which would be drawn around for ever
    ("shade", "archive", (0, 0, 0), np.inf, "its points must be finite"),
    ("jade", "memory", (slice(None), 0, 0), np.nan, "entries to be written next must be whole numbers"),
    ("lshade", "memory", (slice(None), 0, 1), 1e9, "rows in the archive must be whole numbers"),
    ("jso", "memory", (slice(None), 0, 0), -1.0, "entries to be written next must be whole numbers"),
    ("nlshadersp", "memory", (slice(None), 0, 1), 1e9, "rows in the archive must be whole numbers"),
    ("nlshadersp", "memory", (0, 0, 2), -1e300, "entries of F must be"),
    ("nlshadersp", "memory", (0, 0, -1), np.nan, "probabilities of the archive must be"),
    ("nlshadersp", "extra", (5, 0, 0), np.nan, "crossover rates must be"),
    ("arrde", "memory", (slice(None), 0, 1), 1e9, "rows in the archive must be whole numbers"),
    ("arrde", "memory", (slice(None), 0, 14), 3.0, "phases must be whole numbers"),
    ("arrde", "memory", (slice(None), 0, 14), 1.0, "records must be whole numbers"),  # without any
    ("arrde", "memory", (slice(None), 0, 17), 1e9, "records must be whole numbers"),
    ("arrde", "memory", (slice(None), 0, 18), -1.0, "new bests of the first phase must be whole numbers"),
    ("arrde", "memory", (slice(None), 0, 19), 0.5, "boxes of ended phases must be whole numbers"),
    ("arrde", "memory", (slice(None), 0, 20), 1e9, "copies of the memory must be whole numbers"),
    ("arrde", "order", (0, slice(None)), 0, "the order of the population must be a permutation"),
    ("lsrtde", "memory", (slice(None), 0, 5), 1e9, "entries to be written next must be whole numbers"),
    ("lsrtde", "memory", (slice(None), 0, 6), -1.0, "success rates must be"),
    ("lsrtde", "memory", (slice(None), 0, 10), 1e6, "means of F must be"),
    ("lsrtde", "memory", (slice(None), 0, 11), 1e6, "decays must be"),  # more of the best than there are individuals
    ("lsrtde", "memory", (slice(None), 0, 7), -1e6, "slots that are next must be whole numbers"),
    ("lsrtde", "extra", (8, 0, 0), 1e6, "the top's order must be a permutation"),
    ("lsrtde", "order", (0, slice(None)), 0, "the front's order must be a permutation"),
    ("rdex", "memory", (slice(None), 0, 12), 2.0, "rates of the second mutation must be"),
    ("rdex", "memory", (slice(None), 0, 17), -1e300, "entries of F must be"),  # which would be drawn around for ever
    ("sade", "memory", (0, 0, 0), np.nan, "chances of strategies must be"),
    ("sade", "memory", (0, 0, 4), 1e9, "medians of CR must be"),  # around which no CR is in [0, 1]
    ("sade", "memory", (0, 0, 402), -1e9, "generations learned from must be whole numbers"),
    ("sade", "memory", (0, 0, 403), 5.99, "codes of trials must be"),
    ("sade", "memory", (0, 0, 403), -1e6, "codes of trials must be"),
    ("sade", "memory", (0, 0, 10), 1e6, "tallies must count the trials"),
    ("gade", "memory", (slice(None), 0, 0), -1e300, "means of F must be"),  # which would be drawn around for ever
    ("gade", "memory", (slice(None), 0, 1), np.nan, "means of CR must be"),
    ("gade", "memory", (slice(None), 0, 2), 0.5, "generations of a period must be whole numbers"),
    ("gade", "memory", (slice(None), 0, 3), 1e9, "generations with an improvement must be whole numbers"),
    ("gade", "memory", (slice(None), 0, 4), 1e300, "sums of means of F must be"),
    ("chc", "memory", (slice(None), 0, 0), 1e9, "thresholds must be whole numbers"),
    ("chc", "memory", (slice(None), 0, 1), np.nan, "cataclysms must be whole numbers"),
    ("chc", "order", (0, slice(None)), 0, "ranks must be a permutation"),
    ("soupde", "extra", (0, 0, 0), np.nan, "F must be numbers"),
    (PSO(topology="random"), "memory", (slice(None), 0, 1), 1e300, "generations that drew a graph must be whole"),
    (SS(**SS.get_test_params()), "memory", (0, 0, 0), np.nan, "notes must be whole numbers"),
    ("cmaes", "memory", (slice(None), 0, 0), 1.0, "parts that were evaluated must be whole numbers"),
    ("cmaes", "memory", (slice(None), 0, 1), 1e9, "parts of a population must be whole numbers"),
    ("cmaes", "memory", (slice(None), 0, 2), 0.5, "numbers of the factor must be whole numbers"),
    ("cmaes", "memory", (slice(None), 0, 3), -1.0, "generations of a factor must be whole numbers"),
    ("cmaes", "memory", (slice(None), 0, 4), 1e300, "generations since a restart must be whole numbers"),
    ("cmaes", "memory", (slice(None), 0, 6), np.nan, "steps must be numbers"),
    ("gode", "memory", (slice(None), 0, -1), 1e300, "the population's range must be inside the bounds"),
]


def change_entry(path: Path, name: str, place: Any, value: Any) -> None:
    """Write something else into an entry; the checksums are right."""
    with np.load(path) as file:
        arrays = {entry: file[entry].copy() for entry in file.files}
    if place is ...:
        arrays[name] = value
    else:
        arrays[name][place] = value
    with path.open("wb") as stream:
        np.savez(stream, **arrays)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
@pytest.mark.parametrize(("algorithm", "entry", "place", "value", "message"), CRAFTED)
def test_crafted_values(
    algorithm: Any, entry: str, place: Any, value: Any, message: str, device: str, tmp_path: Path
) -> None:
    """They would be counted and indexed with."""
    path = tmp_path / "fit.skde"
    fit("sphere", algorithm=algorithm, max_iter=3, device=device, fit_options={"dim": 3}).save(path)
    change_entry(path, entry, place, value)
    with pytest.raises(ValueError, match=rf"fit.skde' is incomplete or inconsistent: entry '{entry}': .*{message}"):
        Minimizer.load(path, device=device)


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("x", np.zeros((1, 99, 3)), r"entry 'header': pop_size is 100, and entry 'x' has 99 rows"),
        ("x", np.zeros((1, 101, 3)), r"entry 'x': its shape must be \(1, 100, 3\), got \(1, 101, 3\)"),
        ("f", np.zeros((1, 100), np.float32), r"entry 'f': its dtype must be '<f8', got '<f4'"),
        ("status", np.zeros(1, ">i8"), r"entry 'status': its dtype must be one of .* got '>i8'"),
        ("history", np.zeros((1, 2)), "entry 'history': it must have 6 to .* samples, got 2"),
        ("seeds", np.zeros(2, np.uint64), r"entry 'seeds': its shape must be \(1,\), got \(2,\)"),
        ("more", np.zeros(2), "entry 'more' is unknown"),
        ("order", np.zeros((1, 100), np.int64), "entry 'order' is unknown"),
    ],
)
def test_crafted_shapes(saved: Path, entry: str, value: Any, message: str) -> None:
    change_entry(saved, entry, ..., value)
    with pytest.raises(ValueError, match=message):
        Minimizer.load(saved)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"seconds": -1.0}, r"seconds must be a number in \[0, .* got -1.0"),
        ({"seconds": 10**400}, "too large for a float"),
        ({"seconds": "1"}, "'seconds' of the header must be of type float or int, got str"),
        ({"ending": 99}, "99 is not a valid Status"),
        ({"more": 1}, "the header has an unknown 'more'"),
        ({"algorithms": []}, "algorithms must be one or"),
        ({"algorithms": [None]}, "NoneType"),
        ({"algorithms": [{"name": "jde", "parameters": {"pop_size": 2**24}}]}, "pop_size"),
        ({"algorithms": [{"name": "jde", "parameters": {"F": 10**400}}]}, "JDE.F|too large"),
        ({"source": {"problem": "sphere", "dim": 2**20, "options": {}}}, "'source' must be a problem of dim 3"),
        ({"planned": {"evals": 5}}, "planned has an unknown 'evals'"),
    ],
)
def test_crafted_headers(saved: Path, change: Any, message: str) -> None:
    rewrite(saved, **change)
    with pytest.raises(ValueError, match=rf"fit.skde' is incomplete or inconsistent: entry 'header': .*({message})"):
        Minimizer.load(saved)


def test_absurd_numbers_of_runs(saved: Path) -> None:
    """Nothing is made that is as large as a header says."""
    with np.load(saved) as file:
        parameters = json.loads(file["header"].tobytes())["parameters"]
    rewrite(saved, parameters=parameters | {"n_runs": 2**20, "n_islands": 2**16})
    with pytest.raises(ValueError, match=r"entry 'seeds': its shape must be \(68719476736,\), got \(1,\)"):
        Minimizer.load(saved)


def test_bombs(saved: Path, tmp_path: Path) -> None:
    """Entries that are larger than the file are refused before they are read."""
    with zipfile.ZipFile(saved) as file:
        entries = {name: file.read(name) for name in file.namelist()}
    bomb = tmp_path / "bomb.skde"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries.items():
            file.writestr(name, content)
    with pytest.raises(ValueError, match=r"bomb.skde' is broken or .* \(entry 'header.npy' is compressed or encrypted"):
        Minimizer.load(bomb)
    claim = io.BytesIO()
    np.lib.format.write_array_header_1_0(claim, {"descr": "<f8", "fortran_order": False, "shape": (2**40,)})
    with zipfile.ZipFile(bomb, "w") as file:
        for name, content in {**entries, "x.npy": claim.getvalue()}.items():
            file.writestr(name, content)
    with pytest.raises(ValueError, match=r"entry 'x': it says that it has the shape \(1099511627776,\), and has 0 byt"):
        Minimizer.load(bomb)
    nested = np.frombuffer(b"[" * 100_000, np.uint8)
    with zipfile.ZipFile(bomb, "w") as file:
        content = io.BytesIO()
        np.lib.format.write_array(content, nested)
        file.writestr("header.npy", content.getvalue())
    with pytest.raises(ValueError, match=r"bomb.skde' is broken or not a file that skde saved"):
        Minimizer.load(bomb)


def test_special_files_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(ValueError, match=r"fifo' is broken or .* no regular file"):
        Minimizer.load(tmp_path / "fifo")


def test_a_pickle_is_checked_as_a_file_is() -> None:
    state = fit(algorithm="shade").__getstate__()
    state["_saved"][1]["order"][0, 0] = 2**40
    with pytest.raises(ValueError, match="entry 'order': individuals' numbers must be"):
        Minimizer().__setstate__(state)


@pytest.mark.parametrize(
    ("entry", "place", "value", "message"),
    [
        ("x.memory", (slice(None), 0, 0), 2.0**31, "entries to be written next must be whole numbers"),
        ("y.order", (0, 0), 2**40, "individuals' numbers must be"),
        ("y.x", (0, 0, 0), np.nan, "individuals must be inside their bounds"),
        ("x.generation", 0, 2**40, "a side's generations must belong to the run's last cycle"),
        ("x.generation", 0, 0, "a side's generations must belong to the run's last cycle"),
        ("columns", (0, 0, 0), np.nan, "opponents must be finite"),
        ("columns", ..., np.zeros((1, 1, 5)), "its shape must be"),
        ("box_y", (0, 0), np.inf, "must be finite"),
        ("seeds_x", ..., np.zeros(2, np.uint64), "its shape must be"),
    ],
)
@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_crafted_files_of_two_sides(
    entry: str, place: Any, value: Any, message: str, device: str, tmp_path: Path
) -> None:
    path = tmp_path / "fit.skde"
    MinMaxSolver("shade", max_iter=3, random_state=0, device=device).fit("minmax/rustem4").save(path)
    change_entry(path, entry, place, value)
    with pytest.raises(ValueError, match=rf"fit.skde' is incomplete or inconsistent: entry '{entry}': .*{message}"):
        MinMaxSolver.load(path, device=device)


def every_algorithm() -> list[Any]:
    """Return small instances of all algorithms, also of their kernels for opposition and for random graphs."""
    kinds = [(kind, kind.get_test_params()) for kind in ALGORITHMS.values()]
    opposed = [(kind, {**own, "opposition": 0.5}) for kind, own in kinds if "opposition" in kind().get_params()]
    others = [PSO(topology="random", pop_size=8), DE(strategy="current-to-pbest/1/bin", pop_size=8)]
    return [*(kind(**own) for kind, own in [*kinds, *opposed]), *others]


@pytest.mark.parametrize("options", [{"n_runs": 2}, {"n_islands": 3, "dtype": "float32"}], ids=["runs", "islands"])
@pytest.mark.parametrize("algorithm", every_algorithm(), ids=lambda algorithm: algorithm.kernel)
def test_every_generation_can_be_loaded(algorithm: Any, options: Any, tmp_path: Path) -> None:
    """The files of complete fits are never refused, also with values that are not numbers."""
    migration = Migration(every=2) if "n_islands" in options else None
    m = Minimizer(algorithm, bounds=BOX, max_iter=12, random_state=0, device="cpu", migration=migration, **options)
    for _ in range(12):
        X = m.ask()
        values = (X * X).sum(axis=-1)
        values[X[..., 0] > 3] = np.nan
        values[X[..., 0] < -3] = np.inf
        m.tell(X, values)
        m.save(tmp_path / "fit")
        assert np.array_equal(Minimizer.load(tmp_path / "fit").ask(), m.ask())


@pytest.mark.parametrize("wrong", [[], {}])
def test_an_execution_that_is_no_text_is_refused(saved: Path, tmp_path: Path, wrong: Any) -> None:
    header, arrays = serialization.load(saved)
    header["parameters"]["execution"] = wrong
    serialization.save(tmp_path / "wrong", header, arrays)
    with pytest.raises(ValueError, match="wrong' is incomplete or inconsistent: entry 'header'"):
        Minimizer.load(tmp_path / "wrong")


@pytest.mark.parametrize("parameters", [{}, {"n_islands": 2}, {"polish": True}, {"final_evals": 60}])
def test_a_restored_fit_has_the_state_that_was_saved(parameters: dict[str, Any]) -> None:
    saved = fit(n_runs=2, max_iter=None, max_evals=2000, **parameters)._fit
    header, arrays = saved.state()
    restored = Fit(Population(saved.engine, replace(saved.batch.spec)))
    restored.restore(header, arrays)
    again = restored.state()
    assert again[0] == header
    assert again[1].keys() == arrays.keys()
    assert all(np.array_equal(again[1][name], array, equal_nan=True) for name, array in arrays.items())


@pytest.mark.parametrize("problem", ["rastrigin", "fabris2012/p2"])
def test_a_loaded_fit_of_a_problem_has_a_warm_start(tmp_path: Path, problem: str) -> None:
    m = fit(problem, fit_options={}, warm_start=True)
    m.save(tmp_path / "fit")
    loaded = Minimizer.load(tmp_path / "fit")
    assert loaded.fit(problem).fun_ == m.fit(problem).fun_
    assert loaded.n_iter_ == m.n_iter_ == 10
    with pytest.raises(ValueError, match="the objective differs"):
        Minimizer.load(tmp_path / "fit").fit("sphere", dim=len(m.x_), bounds=m._plan.box)


def test_a_loaded_fit_of_a_function_has_no_warm_start(tmp_path: Path) -> None:
    fit(warm_start=True).save(tmp_path / "fit")
    with pytest.raises(ValueError, match="the objective of the first fit is not known"):
        Minimizer.load(tmp_path / "fit").fit(f)
