"""The GPU's kernels compile, without a GPU, for every architecture that the compiler knows of those we support."""

from __future__ import annotations

import ctypes
import itertools
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from skde import DeviceObjective, Fixed, Integer, Variables, _cpu
from skde.engines import DecodedGame, DecodedObjective, Game
from skde.engines.gpu.nvrtc import KERNELS, MARKS, ROOM, TRIALS_SHARED, Kernels, game_options, kernel_options
from skde.problems import get_problem, problem_names

WANTED = (75, 80, 86, 89, 90, 100, 120)


@lru_cache
def nvrtc() -> ctypes.CDLL:
    """Load the compiler's library from its wheel."""
    spec = find_spec("nvidia")
    folders = list(spec.submodule_search_locations or []) if spec else []
    libraries = [path for folder in folders for path in sorted(Path(folder).rglob("libnvrtc.so.*"))]
    assert libraries, "the test extra installs nvidia-cuda-nvrtc"
    return ctypes.CDLL(str(libraries[0]))


def architectures() -> list[int]:
    """Return the wanted ones that this compiler supports."""
    library, count = nvrtc(), ctypes.c_int()
    library.nvrtcGetNumSupportedArchs(ctypes.byref(count))
    known = (ctypes.c_int * count.value)()
    library.nvrtcGetSupportedArchs(known)
    return [arch for arch in WANTED if arch in set(known)]


def build(source: str, architecture: int, options: tuple[str, ...], machine_code: bool = False) -> None:
    """Compile one of the files, of the package or at another path."""
    build_text((KERNELS / "gpu" / f"{source}.cu").read_bytes(), source, architecture, options, machine_code)


def build_text(
    code: bytes, source: str, architecture: int, options: tuple[str, ...], machine_code: bool = False
) -> None:
    """Compile to the compiler's intermediate code or to machine code; fail with its words, also for a warning.

    The intermediate code shows every error of a source, in a tenth of the time that machine code takes.
    """
    library, program = nvrtc(), ctypes.c_void_p()
    library.nvrtcCreateProgram(ctypes.byref(program), code, source.encode(), 0, None, None)
    target = (f"-arch=sm_{architecture}",) if machine_code else (f"-arch=compute_{architecture}", "-dlto")
    words = [option.encode() for option in (*options, *target)]
    status = library.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    size = ctypes.c_size_t()
    library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    library.nvrtcGetProgramLog(program, log)
    text = log.value.decode()
    (library.nvrtcGetCUBINSize if machine_code else library.nvrtcGetLTOIRSize)(program, ctypes.byref(size))
    library.nvrtcDestroyProgram(ctypes.byref(program))
    assert status == 0, text
    assert "warning" not in text, text
    assert size.value > 1000


def options(team: str, dtype: str, algorithm: str = "", **more: Any) -> tuple[str, ...]:
    """Return the engine's options."""
    threads, resident = {"Block": (128, 1), "Warp": (256, 2)}.get(team, (128, 4))
    objective = more.pop("objective", None)
    kernels = Kernels(np.dtype(dtype), algorithm, **more)
    return kernel_options(kernels if objective is None else kernels.with_objective(objective), team, threads, resident)


def kernels() -> list[str]:
    """Return the kernels, of those of one type the first."""
    types = {kind: name for name, (_, kind, *_) in sorted(_cpu.algorithms().items(), reverse=True)}
    return sorted(types.values())


# Of all algorithms; each knows its own.
CONSTANTS = (
    *(("mutation", 0), ("crossover", 0), ("repair", 1), ("topology", 1)),
    *(("p_drawn", 1), ("weighted", 1), ("lehmer_CR", 0), ("staged", 1)),
)


@pytest.mark.parametrize("algorithm", kernels())
@pytest.mark.parametrize(
    ("team", "dtype", "switches"),
    [("Warp", "float64", ("SKDE_ISLANDS", TRIALS_SHARED)), ("Block", "float32", ("SKDE_TIMED",))],
)
def test_runs(algorithm: str, team: str, dtype: str, switches: tuple[str, ...]) -> None:
    """With the strategy given at compile time, as a launch does."""
    problem = get_problem("rotated_rastrigin", dim=2)
    given = options(team, dtype, algorithm, constants=CONSTANTS, objective=problem, switches=switches)
    build("gpu_run", 90, given, machine_code=team == "Warp" and algorithm in ("jade", "lsrtde", "pso"))


@pytest.mark.parametrize(("algorithm", "dtype"), [("de", "float64"), ("ss", "float32"), ("arrde", "float32")])
def test_several_trials_together(algorithm: str, dtype: str) -> None:
    problem = get_problem("janssen2024/F8", dim=10)
    given = options("Warp", dtype, algorithm, constants=CONSTANTS, objective=problem, switches=(f"{TRIALS_SHARED}=3",))
    build("gpu_run", 90, given, machine_code=algorithm == "de")


@pytest.mark.parametrize(
    ("algorithm", "team", "switches"),
    [
        ("de", "Block", (MARKS, ROOM)),
        ("sade", "Block", (MARKS, ROOM, TRIALS_SHARED)),
        ("pso", "Block", (MARKS,)),
        ("pso", "Warp", (MARKS, f"{TRIALS_SHARED}=2")),
    ],
)
def test_marks_of_kept_points(algorithm: str, team: str, switches: tuple[str, ...]) -> None:
    problem = get_problem("rotated_rastrigin", dim=2)
    given = options(team, "float64", algorithm, constants=CONSTANTS, objective=problem, switches=switches)
    build("gpu_run", 90, given)


@pytest.mark.parametrize("algorithm", kernels())
def test_steps(algorithm: str) -> None:
    """With the strategy left open."""
    build("gpu_step", 90, options("Warp", "float64", algorithm))


def test_steps_of_blocks() -> None:
    build("gpu_step", 90, options("Block", "float32", "shade"))


TILES = ("Tile8", "Tile1", "Tile4", "Tile16")


@pytest.mark.parametrize(("algorithm", "team"), list(zip(kernels(), itertools.cycle(TILES), strict=False)))
def test_drivers_with_several_teams_in_a_warp(algorithm: str, team: str) -> None:
    problem = get_problem("rotated_rastrigin", dim=2)
    build("gpu_run", 75, options(team, "float64", algorithm, constants=CONSTANTS, objective=problem))


@pytest.mark.parametrize("algorithm", kernels())
def test_large_populations(algorithm: str) -> None:
    problem = get_problem("rotated_rastrigin", dim=2)
    switches = ("SKDE_LARGE", "SKDE_RANKED", "SKDE_ISLANDS", "SKDE_TOL")
    build("gpu_run", 90, options("Tile8", "float64", algorithm, objective=problem, switches=switches))


def test_drivers_with_strategies_that_differ_between_runs() -> None:
    build("gpu_run", 90, options("Warp", "float64", "jde", objective=get_problem("sphere", dim=2)))


def test_architectures() -> None:
    found = architectures()
    assert {75, 90} <= set(found)
    problem = get_problem("sphere", dim=2)
    given = options("Warp", "float64", "de", constants=(("mutation", 0),), objective=problem)
    for architecture in found:
        build("gpu_run", architecture, given, machine_code=architecture in (min(found), max(found)))


PROBLEMS = b"""
#include "gpu/gpu.cuh"
#include "problems/all.cuh"
using skde::real;
#define SKDE_CASE(name, Problem)                                                                            \\
  extern "C" __global__ void name(const real* x, int d, const __grid_constant__ skde::Data<real> data,      \\
                                  real* scratch, real* f) {                                                 \\
    skde::Team team(nullptr);                                                                               \\
    team.scratch = scratch;                                                                                 \\
    *f = skde::Problem{}(team, x, d, data);                                                                 \\
  }
SKDE_PROBLEMS(SKDE_CASE)
"""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_problem(dtype: str) -> None:
    """All in one program, and one as the engine compiles it."""
    build_text(PROBLEMS, "problems", 75, options("Warp", dtype), machine_code=dtype == "float64")
    build("gpu_evaluate", 75, options("Warp", dtype, objective=get_problem("wang2012/F19", dim=2)))


def test_every_compiled_problem_has_a_name() -> None:
    problems = [get_problem(name, dim=10) for name in problem_names()]
    for constrained in map(get_problem, problem_names("constrained")):
        problems += [constrained.feasibility_objective(1e-6), constrained.component(0)]
    compiled = {entry[1] for name, entry in _cpu.problems().items() if not name.startswith("c_")}  # no function of C
    assert {problem.cpp_type for problem in problems} == compiled


@pytest.mark.parametrize(
    ("game", "team", "threads", "algorithms"),
    [("fabris2012_p1", "Warp", 256, ("jde", "jde")), ("fabris2012_p5", "Block", 128, ("shade", "pso"))],
)
def test_cycles(game: str, team: str, threads: int, algorithms: tuple[str, str]) -> None:
    build("gpu_cycles", 90, game_options(np.dtype("float64"), team, threads, 1, Game(game), algorithms))


@pytest.mark.parametrize(
    ("game", "team", "dtype", "algorithms", "switches"),
    [
        (Game("minmax_rustem5"), "Warp", "float64", ("jde", "lsrtde"), (TRIALS_SHARED,)),
        (Game("fabris2012_p1"), "Block", "float32", ("pso", "shade"), ("SKDE_RANKED",)),
        (Game("fabris2012_p5", (), 6), "Warp", "float64", ("jde", "jde"), ()),
    ],
)
def test_cycles_of_typed_variables(
    game: Game, team: str, dtype: str, algorithms: tuple[str, str], switches: tuple[str, ...]
) -> None:
    variables = Variables([Integer(0, 9), Fixed(2)])
    decoded = DecodedGame(game, variables, variables)
    given = game_options(np.dtype(dtype), team, 128, 1, decoded, algorithms, switches=switches)
    build("gpu_cycles", 90, given, machine_code=team == "Warp" and game.inequalities == 0)


GAMES = b"""
#include "coevolution/coevolution.cuh"
#include "coevolution/games.cuh"
#include "gpu/gpu.cuh"
using skde::real;
#define SKDE_CASE(name, Game)                                                                               \\
  extern "C" __global__ void name(const real* x, const __grid_constant__ skde::Data<real> y, real* f) {     \\
    using namespace skde;                                                                                   \\
    Team team(nullptr);                                                                                     \\
    values_of_x<Game>(team, Point<real>{x}, 2, y, f);                                                       \\
    *f = AgainstY<DecodedGame<Game>>{}(team, x, 2, y) + AgainstX<DecodedGame<Game>>{}(team, x, 2, y);       \\
  }
SKDE_EVERY_GAME
"""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_every_game(dtype: str) -> None:
    build_text(GAMES, "games", 75, game_options(np.dtype(dtype), "Warp", 128))


def test_phases() -> None:
    build("gpu_coevolution", 75, game_options(np.dtype("float64"), "Warp", 128))
    build("gpu_coevolution", 90, game_options(np.dtype("float32"), "Warp", 128, 1, Game("lagrangian")))


def test_device_objective() -> None:
    objective = DeviceObjective("return team.sum(d, [&](int j) { return w[0] * x[j]; });", arrays={"w": [2.0]})
    build("gpu_run", 80, options("Block", "float32", "jde", objective=objective))
    build("gpu_evaluate", 80, options("Warp", "float64", objective=objective))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_typed_variables(dtype: str) -> None:
    variables = Variables([Integer(0, 9), Fixed(2)])
    build("gpu_decode", 75, options("Warp", dtype))
    decoded = options("Block", dtype, "jde", objective=DecodedObjective(get_problem("sphere"), variables))
    build("gpu_run", 90, decoded)
    own = DecodedObjective(DeviceObjective("team.scratch[0] = x[0]; return team.scratch[0];", scratch=1), variables)
    build("gpu_evaluate", 90, options("Warp", dtype, objective=own))


def test_a_broken_body_is_reported() -> None:
    with pytest.raises(AssertionError, match="undefined_name"):
        build("gpu_evaluate", 80, options("Warp", "float64", objective=DeviceObjective("return undefined_name;")))


@pytest.mark.parametrize(
    ("body", "words"), [("if (x[0] > 1) return 1;", "missing return"), ("throw 1; return x[0];", "exception handling")]
)
def test_a_body_without_a_value_is_an_error(body: str, words: str) -> None:
    with pytest.raises(AssertionError, match=rf"error: .*{words}"):
        build("gpu_evaluate", 80, options("Warp", "float64", objective=DeviceObjective(body)))
