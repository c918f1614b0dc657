"""The commands `skde info`, `skde problems` and `skde algorithms`."""

from __future__ import annotations

from typing import Any

from skde.algorithms import ALGORITHMS
from skde.cli.arguments import add_command
from skde.cli.environment import gpu_descriptions, machine, versions
from skde.cli.output import format_json
from skde.engines import choose_engine
from skde.problems import ALIASES, SUITES, problem_names

KIND_TEXTS = {"plain": "", "constrained": "with constraints", "minmax": "min over x, max over y"}


def add_info(commands: Any) -> None:
    """Add `skde info`."""
    add_command(commands, "info", "versions, devices, and the choice of device='auto'", show_info)


def add_problems(commands: Any) -> None:
    """Add `skde problems`."""
    add_command(commands, "problems", "the problems that have a name", show_problems)


def add_algorithms(commands: Any) -> None:
    """Add `skde algorithms`."""
    add_command(commands, "algorithms", "the algorithms and their parameters", show_algorithms)


def show_info(options: Any) -> int:
    """Print versions, devices, and the device that would be chosen."""
    gpus, no_gpu = gpu_descriptions()
    engine, reason = choose_engine("auto")
    info: dict[str, Any] = {
        "versions": versions(),
        "machine": machine(),
        "gpus": gpus,
        "no_gpu_because": no_gpu or None,
        "auto": {"device": engine.name, "reason": reason},
    }
    if options.json:
        print(format_json(info))
        return 0
    computer = info["machine"]
    rows = [
        *info["versions"].items(),
        ("", ""),
        ("cpu", f"{computer['cpu']}, {computer['cores']} cores, {computer['threads']} threads used"),
        ("instructions", f"{computer['isa']} of {', '.join(computer['isas'])}"),
        *((gpu["device"], gpu["name"]) for gpu in gpus),
        *([("gpu", f"none: {no_gpu}")] if no_gpu else []),
        ("auto", f"{engine.name} for names, problems and DeviceObjectives: {reason}"),
        ("", "cpu for Python functions: they may only know NumPy"),
    ]
    width = max(len(name) for name, _ in rows) + 2
    for name, text in rows:
        print(f"{name:<{width}}{text}".rstrip())
    return 0


def show_problems(options: Any) -> int:
    """Print the problems' names."""
    friendly = {name: alias for alias, name in ALIASES.items()}
    entries: list[dict[str, Any]] = [
        {"name": name, "alias": friendly.get(name), "kind": kind}
        for kind in SUITES
        for name in problem_names(kind)
        if name not in ALIASES
    ]
    if options.json:
        print(format_json(entries))
    else:
        for entry in entries:
            print(f"{entry['name']:<22}{entry['alias'] or KIND_TEXTS[entry['kind']]}".rstrip())
    return 0


def show_algorithms(options: Any) -> int:
    """Print the algorithms, and their parameters with defaults."""
    entries: list[dict[str, Any]] = [
        {
            "name": name,
            "class": kind.__name__,
            "summary": (kind.__doc__ or "").strip().splitlines()[0],
            "parameters": kind().get_params(),
        }
        for name, kind in ALGORITHMS.items()
    ]
    if options.json:
        print(format_json(entries))
        return 0
    for entry in entries:
        print(f"{entry['name']:<8}{entry['summary']}")
        print(" " * 8 + ", ".join(f"{name}={value!r}" for name, value in entry["parameters"].items()))
    return 0
