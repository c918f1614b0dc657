"""Measurements of speed: evaluations per second on the CPU, microseconds per generation on a GPU, and overheads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import median
from typing import Any

import numpy as np

from skde import DE, JDE, PSO, Algorithm, Minimizer, Problem, get_problem
from skde.benchmark import provenance
from skde.benchmark.generations import generation_us, measure_generations, new_batch
from skde.benchmark.peers import ABSENT, CR, PEERS, SWARMS, C, F, Peer, Run, W, function_of, peer_notes
from skde.engines import CpuEngine, DeviceEngine, check_device, choose_device
from skde.utils.validation import check_int, check_real

Say = Callable[[str], None]
Figures = dict[str, list[float]]

REPEATS = 5
# A longer run would converge: the values of a sphere then become subnormal numbers, which are slow and not typical.
MOST_GENERATIONS = 2000
LEAST_GENERATIONS = 5
PYTHON_SETTING = (30, 100)  # dimension and population of the figures with a Python objective
# (problem, dim, pop_size)
CPU_SETTINGS = (("sphere", 30, 100), ("rastrigin", 30, 100), ("sphere", 100, 250), ("rastrigin", 100, 250))
SWARM_DIM, PARTICLES = 30, 125
SHARED_FROM_DIM = 100  # from here on, threads share one population
# (problem, dim, pop_size, runs)
GPU_SETTINGS = (
    ("sphere", 30, 48, 1),
    ("rastrigin", 30, 48, 1),
    ("sphere", 100, 250, 1),
    ("rastrigin", 100, 250, 1),
    ("rotated_rastrigin", 100, 250, 1),
    ("rastrigin", 100, 250, 30),
    ("rotated_rastrigin", 100, 250, 30),
)

IMPORT = "import time, numpy, sklearn; t = time.perf_counter(); import skde; print(time.perf_counter() - t)"
# Times the first fit of a process without the import of CuPy and the creation of the GPU's context.
FIRST_FIT = """
import json, sys, time
device = sys.argv[1]
begin = time.perf_counter()
import cupy
from skde import Minimizer
with cupy.cuda.Device(int(device.partition(":")[2] or 0)):
    cupy.cuda.runtime.free(0)
times = {"import and context": time.perf_counter() - begin}
for name in ("first fit", "second fit"):
    begin = time.perf_counter()
    Minimizer("jde", max_iter=100, device=device, random_state=0).fit("rastrigin", dim=30)
    times[name] = time.perf_counter() - begin
print(json.dumps(times))
"""


def measure_speed(
    device: str = "cpu", *, threads: int = 2, seconds: float = 0.2, command: str = "", say: Say = lambda text: None
) -> dict[str, Any]:
    """Measure the table of one device.

    Parameters
    ----------
    device : {"cpu", "cuda", "cuda:N"}, default "cpu"
        The device.
    threads : int, default 2
        Threads of the CPU's second measurement at the large settings, >= 1; the others use one thread.
    seconds : float, default 0.2
        Time of one repeat of one figure on the CPU, > 0.
    command : str, default ""
        The command to store in the record.
    say : callable
        Called with the name of the next measurement.

    Returns
    -------
    record : dict
        Ready for JSON: the provenance, the settings, and every figure with all its repeats.

    Raises
    ------
    ValueError, RuntimeError
        For a device that is unknown or missing.
    """
    check_int("threads", threads, 1)
    check_real("seconds", seconds, 0, low_open=True)
    check_device(device, auto=False, several=False)
    engine, _ = choose_device(device)
    on_cpu = engine.xp is np
    settings: dict[str, Any] = {
        "strategy": "rand/1/bin",
        "F": F,
        "CR": CR,
        "dtype": "float64",
        "repeats": REPEATS,
        "seconds": seconds,
        "most_generations": MOST_GENERATIONS,
    }
    if on_cpu:
        figures = cpu_figures(threads, seconds, say)  # first: it finds peers that cannot be imported
        settings |= {
            "threads": threads,
            "peers": peer_notes(),
            "swarms": peer_notes(SWARMS),
            "left_out": find_left_out(),
        }
    else:
        with engine.xp.cuda.Device(int(engine.name.partition(":")[2])):
            figures = gpu_figures(engine, say)
    return {
        **provenance(command),
        "device": engine.name,
        "driver": None if on_cpu else driver(engine),
        "settings": settings,
        "figures": figures,
    }


# -- on the CPU --------------------------------------------------------------------------------------------------------


def cpu_figures(threads: int, seconds: float, say: Say) -> dict[str, Any]:
    """Return every figure of the CPU's table."""
    rows = []
    for name, dim, pop_size in CPU_SETTINGS:
        say(f"{name} D={dim} NP={pop_size}")
        problem = get_problem(name, dim=dim)
        optimizers = cpu_optimizers(problem, pop_size, threads if dim >= SHARED_FROM_DIM else 1, say)
        rates = measure_rates(optimizers, seconds, REPEATS)
        rows.append(
            {
                "problem": name,
                "dim": dim,
                "pop_size": pop_size,
                "evals_per_second": {name: make_entry(rates[name]) for name in rates},
                "ratios": cpu_ratios(rates),
            }
        )
    say("swarms")
    swarms = [swarm_rates(name, seconds, say) for name in ("sphere", "rastrigin")]
    say("Python objective")
    python = python_objective("cpu", MOST_GENERATIONS, REPEATS)
    say("import")
    algorithms = measure_generations(CpuEngine(1), say)
    imported = make_entry(import_seconds(3))
    return {
        "settings": rows,
        "swarms": swarms,
        "algorithms": algorithms,
        "python_objective": python,
        "import_seconds": imported,
    }


def swarm_rates(name: str, seconds: float, say: Say) -> dict[str, Any]:
    """Return the evaluations per second of skde's swarm and of the peers', measured in turn on one thread."""
    problem = get_problem(name, dim=SWARM_DIM)
    pso = PSO(w=W, c1=C, c2=C, pop_size=PARTICLES)
    optimizers = {"pso": skde_run(pso, problem), "pso, NumPy objective": skde_run(pso, problem, compiled=False)}
    optimizers |= peer_runs(SWARMS, problem, PARTICLES, say)
    rates = measure_rates(optimizers, seconds, REPEATS)
    return {
        "problem": name,
        "dim": SWARM_DIM,
        "pop_size": PARTICLES,
        "evals_per_second": {name: make_entry(rates[name]) for name in rates},
        "ratios": peer_ratios("pso", rates, SWARMS),
    }


def cpu_optimizers(problem: Problem, pop_size: int, threads: int, say: Say) -> dict[str, Run]:
    """Return the optimizers of the comparison: skde's variants and the peers that can be imported."""
    de, jde = DE(F=F, CR=CR, pop_size=pop_size), JDE(pop_size=pop_size)
    optimizers = {"de": skde_run(de, problem), "jde": skde_run(jde, problem)}
    if threads > 1:
        optimizers[f"de, {threads} threads"] = skde_run(de, problem, threads)
    optimizers["de, NumPy objective"] = skde_run(de, problem, compiled=False)
    return optimizers | peer_runs(PEERS, problem, pop_size, say)


def peer_runs(peers: Sequence[Peer], problem: Problem, pop_size: int, say: Say) -> dict[str, Run]:
    """Return the optimizers of the peers that can be imported, and say why an installed one is left out."""
    runs: dict[str, Run] = {}
    for peer in peers:
        if peer.present:
            try:
                runs[peer.name] = peer.make(problem, pop_size)
            except RuntimeError as error:
                say(f"left out: {error}")
    return runs


def find_left_out() -> list[str]:
    """Return the errors of installed peers that cannot be imported."""
    defects = dict.fromkeys(peer.defect for peer in (*PEERS, *SWARMS))
    return [defect for defect in defects if defect not in ("", ABSENT)]


def skde_run(algorithm: Algorithm, problem: Problem, threads: int = 1, compiled: bool = True) -> Run:
    """Return an optimizer of skde: complete fits, with all overheads."""
    objective = problem if compiled else function_of(problem)
    pop_size = algorithm.pop_size or 0

    def run(generations: int) -> int:
        minimizer = Minimizer(algorithm, max_iter=generations, device="cpu", n_jobs=threads, random_state=0)
        minimizer.fit(objective, bounds=problem.bounds)
        return (generations + 1) * pop_size

    return run


def measure_rates(optimizers: dict[str, Run], seconds: float, repeats: int) -> Figures:
    """Return every optimizer's evaluations per second, one figure a repeat.

    The optimizers take turns, so that a slow phase of the machine affects all of them.
    """
    generations = {name: suitable_generations(run, seconds) for name, run in optimizers.items()}
    rates: Figures = {name: [] for name in optimizers}
    for _ in range(repeats):
        for name, run in optimizers.items():
            begin, evaluations, took = time.perf_counter(), 0, 0.0
            while took < seconds:
                evaluations += run(generations[name])
                took = time.perf_counter() - begin
            rates[name].append(evaluations / took)
    return rates


def suitable_generations(run: Run, seconds: float) -> int:
    """Return the number of generations of a run that fits into a repeat; this also warms the optimizer up."""
    run(LEAST_GENERATIONS)
    generations = 4 * LEAST_GENERATIONS
    while True:
        begin = time.perf_counter()
        run(generations)
        took = time.perf_counter() - begin
        if took >= seconds / 4 or generations == MOST_GENERATIONS:
            return int(np.clip(generations * seconds / took, LEAST_GENERATIONS, MOST_GENERATIONS))
        generations = min(4 * generations, MOST_GENERATIONS)


def cpu_ratios(rates: Figures) -> dict[str, float]:
    """Return ratios of rates, each the median over the repeats."""
    ratios = peer_ratios("de", rates, PEERS)
    ratios["jde / de"] = ratio(rates["jde"], rates["de"])
    ratios |= {f"{name} / de": ratio(rates[name], rates["de"]) for name in rates if name.endswith("threads")}
    return ratios


def peer_ratios(name: str, rates: Figures, peers: Sequence[Peer]) -> dict[str, float]:
    """Return the ratios of our rate to the peers': with our compiled objective, and with one like the peer's."""
    present = [peer for peer in peers if peer.name in rates]
    like = f"{name}, NumPy objective"
    ratios = {f"{name} / {peer.name}": ratio(rates[name], rates[peer.name]) for peer in present}
    alike = [peer for peer in present if not peer.compiled]
    return ratios | {f"{like} / {peer.name}": ratio(rates[like], rates[peer.name]) for peer in alike}


def import_seconds(repeats: int) -> list[float]:
    """Return the seconds of ``import skde`` in new processes that have imported NumPy and scikit-learn."""
    return [float(output_of([sys.executable, "-c", IMPORT])) for _ in range(repeats)]


# -- on a GPU ----------------------------------------------------------------------------------------------------------


def gpu_figures(engine: DeviceEngine, say: Say) -> dict[str, Any]:
    """Return every figure of a GPU's table."""
    rows = []
    for name, dim, pop_size, n_runs in GPU_SETTINGS:
        say(f"{name} D={dim} NP={pop_size} runs={n_runs}")
        problem = get_problem(name, dim=dim)
        algorithms = {"de": DE(F=F, CR=CR, pop_size=pop_size), "jde": JDE(pop_size=pop_size)}
        times: Figures = {label: [] for label in algorithms}
        for _ in range(REPEATS + 1):
            for label, algorithm in algorithms.items():
                make = partial(new_batch, engine, algorithm, problem, n_runs)
                times[label].append(generation_us(engine, make, MOST_GENERATIONS))
        times = {label: values[1:] for label, values in times.items()}  # the first repeat compiled and warmed up
        rows.append(
            {
                "problem": name,
                "dim": dim,
                "pop_size": pop_size,
                "n_runs": n_runs,
                "us_per_generation": {label: make_entry(values) for label, values in times.items()},
                "ratios": {"jde / de": ratio(times["jde"], times["de"])},
            }
        )
    say("CuPy objective")
    python = python_objective(engine.name, MOST_GENERATIONS, REPEATS)
    say("first fit")
    cold = first_fit(engine.name, 3)
    family = measure_generations(engine, say)
    return {"settings": rows, "algorithms": family, "python_objective": python, "first_fit_seconds": cold}


def first_fit(device: str, repeats: int) -> dict[str, Any]:
    """Return the seconds of first fits in new processes, with an empty and with a filled kernel cache."""
    times: dict[str, Figures] = {"cold": {}, "disk cache": {}}
    for _ in range(repeats):
        with tempfile.TemporaryDirectory() as cache:
            environment = os.environ | {"CUPY_CACHE_DIR": cache, "CUDA_CACHE_PATH": cache}
            for state in times:
                measured = json.loads(output_of([sys.executable, "-c", FIRST_FIT, device], environment))
                for name, value in measured.items():
                    times[state].setdefault(name, []).append(value)
    return {state: {name: make_entry(values) for name, values in by_name.items()} for state, by_name in times.items()}


def driver(engine: DeviceEngine) -> dict[str, Any]:
    """Return the GPU's name and the versions of driver, runtime and compiler."""
    cuda = engine.xp.cuda
    return {
        "gpu": getattr(engine, "description", engine.name),
        "driver": int(cuda.runtime.driverGetVersion()),
        "runtime": int(cuda.runtime.runtimeGetVersion()),
        "nvrtc": ".".join(map(str, cuda.nvrtc.getVersion())),
    }


# -- on both -----------------------------------------------------------------------------------------------------------


def python_objective(device: str, generations: int, repeats: int) -> dict[str, Any]:
    """Return the overhead of a generation with a vectorised Python objective, in microseconds.

    Parameters
    ----------
    device : str
        The device; on a GPU the objective uses CuPy, and the host waits at the end and not in every generation.
    generations : int
        Generations of one measurement.
    repeats : int
        Number of measurements; the objective alone, fit, and ask with tell take turns.
    """
    engine, _ = choose_device(device, 1)
    dim, pop_size = PYTHON_SETTING
    options: dict[str, Any] = {"max_iter": generations, "device": device, "n_jobs": 1, "random_state": 0}
    bounds = [(-5.0, 5.0)] * dim
    algorithm = DE(F=F, CR=CR, pop_size=pop_size)

    def objective(X: Any) -> Any:
        return (X * X).sum(axis=1)

    def alone() -> Iterator[None]:
        X = engine.xp.full((pop_size, dim), 0.5)
        yield
        for _ in range(generations):
            objective(X)

    def fit() -> Iterator[None]:
        minimizer = Minimizer(algorithm, **options)
        yield
        minimizer.fit(objective, bounds=bounds)

    def ask_tell() -> Iterator[None]:
        minimizer = Minimizer(algorithm, bounds=bounds, **options)
        yield
        for _ in range(generations):
            X = minimizer.ask()
            minimizer.tell(X, objective(X))

    times: Figures = {"objective": [], "fit": [], "ask/tell": []}
    for _ in range(repeats + 1):
        for label, work in zip(times, (alone, fit, ask_tell), strict=True):
            steps = work()
            next(steps)
            engine.synchronize()
            begin = time.perf_counter()
            next(steps, None)
            engine.synchronize()
            times[label].append((time.perf_counter() - begin) * 1e6 / generations)
    times = {label: values[1:] for label, values in times.items()}  # the first repeat warmed up
    own = times["objective"]
    overhead = {
        label: [total - part for total, part in zip(times[label], own, strict=True)] for label in ("fit", "ask/tell")
    }
    return {
        "dim": dim,
        "pop_size": pop_size,
        "us_per_generation": {label: make_entry(values) for label, values in times.items()},
        "overhead_us_per_generation": {label: make_entry(values) for label, values in overhead.items()},
    }


def make_entry(values: list[float]) -> dict[str, Any]:
    """Return the median with all repeats."""
    return {"median": median(values), "repeats": list(values)}


def ratio(first: list[float], second: list[float]) -> float:
    """Return the median of the ratios of the same repeat."""
    return median(a / b for a, b in zip(first, second, strict=True))


def output_of(command: list[str], environment: dict[str, str] | None = None) -> str:
    """Return the output of a process.

    Raises
    ------
    RuntimeError
        When it fails, with the last line of its errors.
    """
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        said = (done.stderr.strip() or "nothing").splitlines()[-1]
        raise RuntimeError(f"a measuring process ended with exit code {done.returncode} and said: {said}")
    return done.stdout


def format_speed(record: dict[str, Any]) -> str:
    """Return a record's medians as text."""
    figures = record["figures"]
    on_gpu = record["driver"] is not None
    where = record["driver"]["gpu"] if on_gpu else f"{record['machine']['cpu']}, {record['machine']['isa']}"
    lines = [f"{record['device']}: {where}", ""]
    key, unit, scale = ("us_per_generation", "us", 1.0) if on_gpu else ("evals_per_second", "million evals/s", 1e-6)
    for row in figures["settings"]:
        runs = f" runs={row['n_runs']}" if row.get("n_runs", 1) > 1 else ""
        lines.append(f"{row['problem']} D={row['dim']} NP={row['pop_size']}{runs}")
        lines += [f"  {label:<24}{entry['median'] * scale:10.3f} {unit}" for label, entry in row[key].items()]
        lines += [f"  {label:<40}{value:8.2f} x" for label, value in row["ratios"].items()]
    lines.append("a generation of every algorithm")
    for row in figures["algorithms"]:
        what = f"  {row['algorithm']}, {row['problem']} D={row['dim']} NP={row['pop_size']}"
        lines.append(f"{what:<48}{row['median']:10.2f} us {row['ratio to de']:6.2f} x de")
    python = figures["python_objective"]
    lines.append(f"Python objective, D={python['dim']} NP={python['pop_size']}, overhead of a generation")
    lines += [
        f"  {label:<24}{entry['median']:10.1f} us" for label, entry in python["overhead_us_per_generation"].items()
    ]
    if on_gpu:
        for state, parts in figures["first_fit_seconds"].items():
            lines.append(f"new process, {state}")
            lines += [f"  {label:<24}{entry['median']:10.3f} s" for label, entry in parts.items()]
    else:
        lines.append(f"import skde{figures['import_seconds']['median']:25.3f} s")
        settings = record["settings"]
        notes = {**settings["peers"], **settings["swarms"]}
        absent = [name for name, note in notes.items() if note == ABSENT]
        lines += [f"not installed: {', '.join(absent)}"] if absent else []
        lines += [f"left out: {reason}" for reason in settings["left_out"]]
    return "\n".join(lines)
