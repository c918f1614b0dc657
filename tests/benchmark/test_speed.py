"""Measurements of speed: their parts and their record."""

import json
from importlib.util import find_spec

import numpy as np
import pytest

from skde import DE, JDE, Minimizer, get_problem
from skde.algorithms import ALGORITHMS
from skde.benchmark import commit, generations, list_versions, machine, peers, speed
from skde.benchmark.peers import FUNCTIONS, PEERS, SWARMS, Peer, function_of, peer_notes
from skde.cli.main import main
from skde.engines import choose_device


@pytest.fixture
def small(monkeypatch):
    """Measure one small setting of each dimension in a moment."""
    monkeypatch.setattr(speed, "CPU_SETTINGS", (("sphere", 5, 20), ("rastrigin", 100, 20)))
    monkeypatch.setattr(speed, "MOST_GENERATIONS", 20)
    monkeypatch.setattr(speed, "REPEATS", 3)
    monkeypatch.setattr(generations, "GENERATIONS", 20)
    monkeypatch.setattr(generations, "WARM_GENERATIONS", 5)
    monkeypatch.setattr(generations, "REPEATS", 3)


@pytest.mark.parametrize("name", ["sphere", "rastrigin"])
def test_peers_minimise_the_same_function(name):
    problem = get_problem(name, dim=6)
    X = np.random.default_rng(0).uniform(-5, 5, (9, 6))
    np.testing.assert_allclose(function_of(problem)(X), problem(X), rtol=1e-12)
    assert len(FUNCTIONS) == 2


def test_peers_refuse_other_functions():
    with pytest.raises(ValueError, match=r"sphere and rastrigin only, got Problem\('nashed2012/f14'"):
        function_of(get_problem("ackley", dim=3))


@pytest.mark.parametrize("peer", [peer for peer in PEERS if peer.present], ids=lambda peer: peer.name)
@pytest.mark.parametrize("name", ["sphere", "rastrigin"])
def test_peers_count_their_evaluations(peer, name):
    run = peer.make(get_problem(name, dim=10), 20)
    assert run(5) == 6 * 20
    assert run(11) == 12 * 20


@pytest.mark.parametrize("peer", [peer for peer in SWARMS if peer.present], ids=lambda peer: peer.name)
def test_swarms_count_their_evaluations(peer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # pyswarms writes a log where it is imported
    run = peer.make(get_problem("sphere", dim=10), 20)
    assert run(11) - run(5) == 6 * 20


def test_absent_peers_are_recorded():
    assert list(peer_notes(SWARMS)) == ["pygmo", "pyswarms"]
    notes = peer_notes()
    assert list(notes) == ["scipy", "pygmo", "minionpy"]
    assert "rand1bin" in notes["scipy"]
    assert not Peer("no_such_library", "", True, PEERS[0].build).present
    for name in ("pygmo", "minionpy"):
        assert (notes[name] == "absent") == (find_spec(name) is None)


def test_record(capsys, tmp_path, small):
    file = tmp_path / "record.json"
    assert main(["bench", "speed", "--seconds", "0.002", "--json", "--out", str(file)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert json.loads(file.read_text()) == record
    assert set(record) == {
        *("date", "device", "driver", "machine", "versions", "commit", "command", "settings", "figures")
    }
    assert record["command"].startswith("skde bench speed --seconds 0.002")
    assert (record["device"], record["driver"]) == ("cpu", None)
    assert record["settings"]["peers"] == peer_notes()
    first, second = record["figures"]["settings"]
    assert (first["problem"], first["dim"], first["pop_size"]) == ("sphere", 5, 20)
    expected = {"de", "jde", "de, NumPy objective", *(peer.name for peer in PEERS if peer.present)}
    assert set(first["evals_per_second"]) == expected
    assert set(second["evals_per_second"]) == expected | {"de, 2 threads"}
    for found in second["evals_per_second"].values():
        assert len(found["repeats"]) == 3
        assert found["median"] == sorted(found["repeats"])[1] > 0
    assert {"de / scipy", "de, NumPy objective / scipy", "jde / de", "de, 2 threads / de"} <= set(second["ratios"])
    ours, scipy = (first["evals_per_second"][name]["repeats"] for name in ("de", "scipy"))
    assert first["ratios"]["de / scipy"] == pytest.approx(sorted(a / b for a, b in zip(ours, scipy, strict=True))[1])
    for found in record["figures"]["swarms"]:
        assert {"pso", "pso, NumPy objective"} <= set(found["evals_per_second"])
    assert record["settings"]["swarms"] == peer_notes(SWARMS)
    rows = {row["algorithm"]: row for row in record["figures"]["algorithms"]}
    assert {*ALGORITHMS, "pso, ring", "pso, 125 particles", "de, 16 islands of 16"} <= set(rows)
    assert all(len(row["repeats"]) == 3 and row["median"] > 0 for row in rows.values())
    assert rows["de"]["ratio to de"] == 1
    python = record["figures"]["python_objective"]
    total, own = python["us_per_generation"]["fit"]["repeats"], python["us_per_generation"]["objective"]["repeats"]
    assert python["overhead_us_per_generation"]["fit"]["repeats"] == pytest.approx(np.subtract(total, own))
    assert 0 < record["figures"]["import_seconds"]["median"] < 5


def test_table_shows_the_medians(small):
    record = speed.measure_speed(threads=1, seconds=0.002)
    text = speed.format_speed(record)
    assert "rastrigin D=100 NP=20" in text
    assert f"{record['figures']['settings'][0]['evals_per_second']['jde']['median'] / 1e6:.3f} million" in text
    assert "threads" not in text
    assert record["machine"]["isa"] in text


def test_a_peer_that_cannot_be_imported_is_left_out(small, monkeypatch, tmp_path):
    (tmp_path / "no_longer_fitting.py").write_text("import numpy\nnumpy.a_name_of_an_older_version\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(peers, "BROKEN", {})

    def build(problem, pop_size):
        import no_longer_fitting  # noqa: F401

    for name in ("PEERS", "SWARMS"):
        monkeypatch.setattr(speed, name, (Peer("no_longer_fitting", "", False, build),))
    said = []
    record = speed.measure_speed(threads=1, seconds=0.002, say=said.append)
    (reason,) = record["settings"]["left_out"]
    assert reason.startswith("no_longer_fitting cannot be imported: module 'numpy' has no attribute 'a_name_of")
    assert said.count(f"left out: {reason}") == 1
    assert f"left out: {reason}" in speed.format_speed(record)
    assert all("no_longer_fitting" not in row["evals_per_second"] for row in record["figures"]["settings"])


def test_rates_are_interleaved_and_counted():
    calls = []

    def optimizer(name):
        def run(generations):
            calls.append(name)
            return 1000 * generations

        return run

    rates = speed.measure_rates({"a": optimizer("a"), "b": optimizer("b")}, 0.001, 4)
    assert {name: len(values) for name, values in rates.items()} == {"a": 4, "b": 4}
    turns = [name for before, name in zip(["", *calls], calls, strict=False) if name != before]
    assert turns == ["a", "b"] * 5  # once to warm up, then the repeats
    assert speed.ratio([2.0, 6.0, 30.0], [1.0, 2.0, 3.0]) == 3.0


@pytest.mark.parametrize("algorithm", [DE(pop_size=20), JDE(pop_size=20, strategy="current-to-pbest/1/bin")])
def test_bare_batch_is_the_minimizers(algorithm):
    problem = get_problem("rotated_rastrigin", dim=7)
    engine, _ = choose_device("cpu", 1)
    batch = generations.new_batch(engine, algorithm, problem, 3, 40)
    engine.run(batch, -1, 15)
    engine.run(batch, 15, 40)
    minimizer = Minimizer(algorithm, max_iter=40, n_runs=3, random_state=0, device="cpu").fit(problem)
    assert batch.best()[1].tolist() == [run.fun for run in minimizer.runs_]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"device": "auto"}, "device must be 'cpu'"),
        ({"device": "tpu"}, "device must be"),
        ({"threads": 0}, "threads must be an integer >= 1, got 0"),
        ({"seconds": 0.0}, "seconds must be a number"),
    ],
)
def test_bad_input(arguments, message):
    with pytest.raises(ValueError, match=message):
        speed.measure_speed(**arguments)


def test_an_error_names_the_failed_process():
    with pytest.raises(RuntimeError, match=r"exit code 1 and said: ValueError: no"):
        speed.output_of([speed.sys.executable, "-c", "raise ValueError('no')"])


def test_a_record_describes_the_machine():
    assert {"skde", "python", "numpy", "scipy", "scikit-learn"} <= set(list_versions())
    assert machine()["cpu"]
    assert commit() is None or len(commit()) == 40


@pytest.mark.gpu
def test_gpu_record(monkeypatch):
    monkeypatch.setattr(speed, "GPU_SETTINGS", (("rotated_rastrigin", 10, 20, 2),))
    monkeypatch.setattr(speed, "MOST_GENERATIONS", 50)
    monkeypatch.setattr(speed, "REPEATS", 2)
    monkeypatch.setattr(speed, "first_fit", lambda device, repeats: {"cold": {"first fit": speed.make_entry([1.0])}})
    record = speed.measure_speed("cuda")
    assert record["driver"]["driver"] > 0
    row = record["figures"]["settings"][0]
    assert all(0 < found["median"] < 1e5 for found in row["us_per_generation"].values())
    assert "rotated_rastrigin D=10 NP=20 runs=2" in speed.format_speed(json.loads(json.dumps(record)))
