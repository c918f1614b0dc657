"""The page on speed, from the records in benchmarks/records/."""

from __future__ import annotations

import json
from statistics import median
from typing import Any

from figures.svg import COLOUR, draw_svg

from . import large, parallel, rotations, scale
from .sources import RECORDS

HEAD = """# Speed

Made from the records in `benchmarks/records/` by `python docs/render.py`; medians of {repeats} repeats, in turn.
Ratios are from one run; absolute figures depend on the machine.
"""
PEERS = ("scipy", "pygmo", "minionpy")
AIM = 1.6  # times de's time
RDEX = """By samples of instructions, of a generation of `lsrtde` a quarter is the evaluation, 37 % the trials and the
rest the two populations: ranks in both, and rows that are copied to their places. `rdex` has the same populations. In
one process `de` takes 10.9 microseconds here, `lsrtde` 24.7, and `rdex` 30.0: 25.7 without its perturbation, which
draws a Cauchy number for every component of 40 % of the trials, and 25.1 without its second mutation, too. Ranks that
are sorted and merged instead of counted take longer with 100 individuals (`rdex` 1.05 times, `lsrtde` 1.12 times)."""
CHANGES = {
    "sums-h200.json": "some teams make the sums of large populations while the others sort; small teams for all",
    "stages-h200.json": "whole warps make the stages of large populations, and the best of some needs no stage",
    "tol-h200.json": "all teams share the sums for the rule of tol",
    "steps-h200.json": "functions in Python: a generation's kernels start no more blocks than the GPU holds",
}

# The bars of the plot, and their figures in the record.
PLOTTED = "rastrigin"
BARS = {
    "skde, compiled objective": "de",
    "pygmo, compiled objective": "pygmo",
    "skde, NumPy objective": "de, NumPy objective",
    "minionpy, NumPy objective": "minionpy",
    "SciPy, NumPy objective": "scipy",
}


def setting_name(setting: dict[str, Any]) -> str:
    """Return the name of a setting."""
    runs = setting.get("n_runs", 1)
    return f"{setting['problem']}, D={setting['dim']}, NP={setting['pop_size']}" + (
        f", {runs} runs" if runs > 1 else ""
    )


def source(record: dict[str, Any], name: str) -> list[str]:
    """Return the source of the figures."""
    machine, driver = record["machine"], record["driver"]
    where = f"{driver['gpu']}, CUDA {driver['runtime'] // 1000}" if driver else f"{machine['cpu']}, {machine['isa']}"
    made = f"{record['date'][:10]}, commit {commits(record)}, `{record['command']}`"
    return [f"{where}; {made} ([{name}](../benchmarks/records/{name})).", ""]


def commits(record: dict[str, Any]) -> str:
    """Return the commits of a record and of its rows, and the one that they are compared with."""
    rows = record["figures"] if isinstance(record["figures"], list) else []
    given = dict.fromkeys([record["commit"], *(row["commit"] for row in rows if "commit" in row)])
    text = ", ".join(commit[:10] for commit in given)
    return f"{text} after {record['before'][:10]}" if "before" in record else text


def cpu(record: dict[str, Any], name: str) -> list[str]:
    """Return the section on the CPU: evaluations per second."""
    lines = ["## CPU, one thread, million evaluations a second", "", *source(record, name)]
    lines += [
        "| setting | de | jde | SciPy | pygmo | minionpy | de / pygmo | 2 threads / 1 |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for setting in record["figures"]["settings"]:
        speed = {key: f"{value['median'] / 1e6:.2f}" for key, value in setting["evals_per_second"].items()}
        ratios = {key: f"{value:.2f}" for key, value in setting["ratios"].items()}
        columns = [speed["de"], speed["jde"], *(speed.get(peer, "absent") for peer in PEERS)]
        columns += [ratios.get("de / pygmo", ""), ratios.get("de, 2 threads / de", "")]
        lines.append(f"| {setting_name(setting)} | {' | '.join(columns)} |")
    peers = record["settings"]["peers"]
    lines += ["", "Peers: " + "; ".join(f"{peer}: {peers[peer]}" for peer in PEERS if peer in peers) + ".", ""]
    lines += ["![Million evaluations a second of skde and of other libraries](speed-cpu.svg)", ""]
    return lines + swarms(record) + overhead(record)


def plot() -> bytes:
    """Return an SVG: evaluations a second of one setting, with compiled and with NumPy objectives."""
    record = json.loads((RECORDS / "speed-cpu.json").read_text())
    setting = next(row for row in record["figures"]["settings"] if row["problem"] == PLOTTED)
    rows = {label: setting["evals_per_second"][key]["median"] / 1e6 for label, key in BARS.items()}

    def draw(figure: Any) -> None:
        axes = figure.subplots()
        colours = [COLOUR if label.startswith("skde") else "0.6" for label in rows]
        bars = axes.barh(list(rows), list(rows.values()), color=colours)
        axes.bar_label(bars, fmt="%.2f", padding=3)
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.margins(x=0.1)
        axes.set(xlabel=f"million evaluations a second; {setting_name(setting)}, one thread")

    return draw_svg((8, 2.4), draw)


def swarms(record: dict[str, Any]) -> list[str]:
    """Return the evaluations per second of the swarms; older records have none."""
    rows = record["figures"].get("swarms", [])
    if not rows:
        return []
    notes = record["settings"]["swarms"]
    columns = ["pso", "pso, NumPy objective", *notes]
    lines = ["Swarms, million evaluations a second:", ""]
    lines += [f"| setting | {' | '.join(columns)} | pso / pygmo | pso / pyswarms, both with NumPy |", "|---" * 7 + "|"]
    for row in rows:
        speed = {key: f"{value['median'] / 1e6:.2f}" for key, value in row["evals_per_second"].items()}
        ratios = {key: f"{value:.2f}" for key, value in row["ratios"].items()}
        cells = [*(speed.get(column, "absent") for column in columns), ratios.get("pso / pygmo", "")]
        cells.append(ratios.get("pso, NumPy objective / pyswarms", ""))
        lines.append(f"| {setting_name(row)} | {' | '.join(cells)} |")
    return [*lines, "", "Peers: " + "; ".join(f"{peer}: {note}" for peer, note in notes.items()) + ".", ""]


def overhead(record: dict[str, Any]) -> list[str]:
    """Return the overhead of a Python objective."""
    python = record["figures"]["python_objective"]
    spent = python["overhead_us_per_generation"]
    fit, ask = (f"{spent[key]['median']:.0f}" for key in ("fit", "ask/tell"))
    return [
        f"A Python objective has an overhead of {fit} us a generation in fit, and of {ask} us with ask and tell.",
        "",
    ]


def family(rows: list[dict[str, Any]]) -> list[str]:
    """Return the microseconds a generation of every algorithm."""
    lines = ["| algorithm | setting | us a generation | times de's |", "|---|---|---|---|"]
    for row in rows:
        figures = f"{row['median']:.2f} | {row['ratio to de']:.2f}"
        lines.append(f"| {row['algorithm']} | {setting_name(row)} | {figures} |")
    return [*lines, ""]


def every_algorithm() -> list[str]:
    """Return the section on the algorithms on a CPU: microseconds a generation."""
    name = "algorithms-cpu.json"
    record = json.loads((RECORDS / name).read_text())
    ratio = {row["algorithm"]: row["ratio to de"] for row in record["figures"]}
    return [
        "## A generation of every algorithm on a CPU, one thread",
        "",
        "Inside the engine, with populations of constant size; medians of turns. The aim for `arrde` and `rdex` was at",
        f"most {AIM} times de's time: `arrde` takes {ratio['arrde']:.2f} times, `rdex` {ratio['rdex']:.2f} times.",
        "",
        *RDEX.splitlines(),
        "",
        *source({"driver": None, **record}, name),
        *family(record["figures"]),
    ]


def compositions() -> list[str]:
    """Return the section on composition functions: microseconds a point."""
    name = "compositions-cpu.json"
    record = json.loads((RECORDS / name).read_text())
    versions = f"minionpy {record['versions']['minionpy']}"
    lines = [
        "## Composition functions on a CPU, one thread",
        "",
        "Microseconds of a point in 100 variables, with the official data: F8 to F10 of `janssen2024`, and the same",
        f"functions of CEC 2017 in {versions}, which is called with lists; medians of {record['settings']['repeats']}",
        "turns.",
        "",
        *source({"driver": None, **record}, name),
        "| function | skde | minionpy | minionpy / skde |",
        "|---|---|---|---|",
    ]
    for row in record["figures"]:
        names = f"{row['function']}, CEC 2017's f{row['cec2017']}"
        lines.append(f"| {names} | {row['skde']:.1f} | {row['minionpy']:.1f} | {row['minionpy / skde']:.2f} |")
    return [*lines, ""]


def gpu(record: dict[str, Any], name: str) -> list[str]:
    """Return the section on a GPU: microseconds a generation."""
    lines = ["## GPU, float64, microseconds a generation", "", *source(record, name)]
    lines += ["| setting | de | jde |", "|---|---|---|"]
    for setting in record["figures"]["settings"]:
        spent = setting["us_per_generation"]
        lines.append(f"| {setting_name(setting)} | {spent['de']['median']:.2f} | {spent['jde']['median']:.2f} |")
    first = record["figures"]["first_fit_seconds"]
    cold, cached = (first[key]["first fit"]["median"] for key in ("cold", "disk cache"))
    lines += [
        "",
        f"The first fit of a process takes {cold:.2f} s with an empty cache, {cached:.2f} s with CuPy's cache filled.",
        "",
    ]
    if rows := record["figures"].get("algorithms", []):  # older records have none
        lines += ["A generation of every algorithm, inside the engine:", "", *family(rows)]
    return lines + overhead(record)


def change(what: str, record: dict[str, Any], name: str) -> list[str]:
    """Return the effect of a change of the kernels."""
    statistic = record["settings"]["statistic"]
    lines = [f"{what}, microseconds a generation; {statistic}:", "", *source(record, name)]
    lines += ["| algorithm | setting | before | after |", "|---|---|---|---|"]
    for row in record["figures"]:
        before, after = (median(row[when]) for when in ("before", "after"))
        lines.append(f"| {row['algorithm']} | {setting_name(row)} | {before:.2f} | {after:.2f} |")
    return [*lines, ""]


def page() -> str:
    """Return the page."""
    records = {path.name: json.loads(path.read_text()) for path in sorted(RECORDS.glob("speed-*.json"))}
    repeats = {record["settings"]["repeats"] for record in records.values()}
    lines = [HEAD.format(repeats=" or ".join(map(str, sorted(repeats))))]
    for name, record in records.items():
        lines += cpu(record, name) if record["device"] == "cpu" else gpu(record, name)
    lines += every_algorithm() + compositions() + scale.section() + large.section()
    lines += rotations.section() + parallel.section()
    lines += ["## Effects of changes", ""]
    for name, what in CHANGES.items():
        lines += change(what, json.loads((RECORDS / name).read_text()), name)
    return "\n".join(lines).rstrip() + "\n"
