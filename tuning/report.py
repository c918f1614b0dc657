"""The report of a tuning, one self-contained HTML file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from importlib.util import find_spec
from typing import Any

import numpy as np
import optuna
from optuna.trial import FrozenTrial, create_trial
from scipy.stats import rankdata

from skde.algorithms import Algorithm
from skde.tuning import report_plots
from skde.tuning.held_out import HeldOutCosts
from skde.tuning.loop import Result, instance_name
from skde.tuning.study_storage import quiet_optuna
from skde.typing import FloatArray
from skde.utils.files import atomic_write

PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>{title}</title>
<style>
body {{ font: 15px/1.5 sans-serif; max-width: 68rem; margin: 2rem auto; padding: 0 1rem; }}
table {{ border-collapse: collapse; }}
td, th {{ padding: 0.15rem 0.7rem; text-align: right; border-bottom: 1px solid #ddd; }}
td:first-child, th:first-child {{ text-align: left; }}
td code {{ display: block; text-align: left; }}
svg {{ max-width: 100%; height: auto; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


def check_drawing() -> None:
    """Refuse to report without matplotlib.

    Raises
    ------
    RuntimeError
        Without matplotlib.
    """
    if find_spec("matplotlib") is None:
        raise RuntimeError("a report needs matplotlib: pip install 'skde[plot]'")


def write_report(tuner: Any, path: str | os.PathLike[str], held_out: HeldOutCosts | None = None) -> None:
    """Write the report of a tuning into a file."""
    check_drawing()
    text = page(tuner, held_out)
    with atomic_write(path, text=True) as file:
        file.write(text)


def page(tuner: Any, held_out: HeldOutCosts | None = None) -> str:
    """Return the report of a tuning as HTML."""
    trials = tuner.study_.get_trials(deepcopy=False)
    elites = [elite.number for elite in tuner.elites_]
    kept = {race["iteration"]: set(race["elites"]) for race in tuner.races_}
    names = list(map(label, tuner.instances))
    parts = [
        *(comparison(held_out, names) if held_out is not None else []),
        heading("The best configurations", "The best first, as Python. Tables name them by their numbers."),
        format_table(("configuration", "Python"), map(python_row, elites, elite_lines(tuner))),
        heading("Cost of the tuning"),
        format_table(("", ""), cost(tuner).items()),
        format_table(RACE_HEADS, map(race_row, tuner.races_)),
        heading(
            "Ranks",
            "Mean ranks of the best configurations among each other, by instance, on the steps that all of them have "
            "done; 1 is the best.",
        ),
        format_table(("instance", "steps", *map(link, elites)), rank_rows(tuner.results_, elites, names)),
        heading(
            "Parameters by race",
            "Values of the configurations that were new in a race; in red those that the race kept.",
        ),
        report_plots.values_by_race(trials, kept),
        heading("All configurations", "In red the best ones."),
        report_plots.parallel_coordinates(trials, elites),
        heading("Importance", "Share of the variance of the trials' values that a parameter explains (fANOVA)."),
        importance(trials),
    ]
    return PAGE.format(title=escape(f"Tuning of {tuner.target_}"), body="\n".join(parts))


def heading(text: str, explanation: str = "") -> str:
    """Return the heading of a section."""
    return f"<h2>{text}</h2>" + (f"\n<p>{explanation}</p>" if explanation else "")


class Html(str):
    """A text that is HTML."""


def link(number: int) -> Html:
    """Return the number of a configuration, with a link to its parameters."""
    return Html(f'<a href="#configuration-{number}">{number}</a>')


def format_table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table; without heads where they are empty."""
    lines = [f"<tr>{''.join(f'<th>{cell(head)}</th>' for head in heads)}</tr>"] if any(heads) else []
    lines += [f"<tr>{''.join(f'<td>{cell(one)}</td>' for one in row)}</tr>" for row in rows]
    return "<table>\n" + "\n".join(lines) + "\n</table>"


def cell(content: Any) -> str:
    """Return the content of a cell as HTML."""
    return content if isinstance(content, Html) else escape(str(content))


def label(instance: Any) -> str:
    """Return the name of an instance; of a pair (function, bounds), the function's."""
    of_pair = isinstance(instance, tuple) and len(instance) == 2 and callable(instance[0])
    objective = instance[0] if of_pair else instance
    name = objective if isinstance(objective, str) else getattr(objective, "name", None)
    return name if isinstance(name, str) else instance_name(objective)


def python_row(number: int, line: str) -> tuple[Html, Html]:
    """Return the row of a configuration, to which the links with its number lead."""
    return Html(f'<span id="configuration-{number}">{number}</span>'), Html(f"<code>{escape(line)}</code>")


def comparison(costs: HeldOutCosts, names: Sequence[str]) -> list[str]:
    """Return the section on the best configuration and the default; `names` are of the instances."""
    everywhere = np.full(len(costs.instances), True)
    parts = [(names[i], costs.instances == i) for i in np.unique(costs.instances)]
    if len(parts) > 1:
        parts.append(("all", everywhere))
    rows = [comparison_row(name, costs, of_part) for name, of_part in parts]
    heads = ["instance", "steps", Html(f"best configuration, {link(costs.number)}")]
    where = "steps with seeds that the tuning did not use" if costs.new_seeds else "the instances of the tuning"
    text = f"Mean costs on {where}; lower is better."
    if costs.default is None:
        return [heading("Cost of the best configuration", f"{text} {NO_DEFAULT}"), format_table(heads, rows)]
    return [heading("The best configuration and the default", text), format_table([*heads, *DEFAULT_HEADS], rows)]


NO_DEFAULT = "There is no default to compare with; the first configuration of Space(initial=[...]) is one."
DEFAULT_HEADS = ("default", "best is better on", "the same on")


def comparison_row(name: str, costs: HeldOutCosts, of_part: Any) -> list[Any]:
    """Return the row of some steps: their number, mean costs, and the steps on which the best is better."""
    columns = [costs.best[of_part]] + ([] if costs.default is None else [costs.default[of_part]])
    has_mean = costs.comparable or len(np.unique(costs.instances[of_part])) == 1
    row = [name, int(of_part.sum()), *(mean_cost(column) if has_mean else "-" for column in columns)]
    if costs.default is not None:
        row += [int((columns[0] < columns[1]).sum()), int((columns[0] == columns[1]).sum())]
    return row


def mean_cost(costs: FloatArray) -> str:
    """Return a mean cost as text, with the number of failures."""
    failed = int(np.isposinf(costs).sum())
    mean = f"{costs[np.isfinite(costs)].mean():.4g}" if failed < len(costs) else "-"
    return f"{mean} ({failed} failed)" if failed else mean


def elite_lines(tuner: Any) -> list[str]:
    """Return the best configurations as Python, the best first."""
    return [python_line(tuner.configure(elite.params), elite.params) for elite in tuner.elites_]


def python_line(configured: Any, params: Mapping[str, Any]) -> str:
    """Return a configuration as Python: the algorithm or the estimator, else the values."""
    if configured is None:
        return repr(dict(params))
    if not isinstance(configured, Algorithm):
        return " ".join(repr(configured).split())
    given, default = configured.get_params(), type(configured)().get_params()
    other = {name: value for name, value in given.items() if name not in params and value != default[name]}
    return f"{type(configured).__name__}({', '.join(f'{n}={v!r}' for n, v in {**params, **other}.items())})"


def cost(tuner: Any) -> dict[str, str]:
    """Return the cost of a tuning: names and texts."""
    results = tuner.results_
    timed = [result for result in results if result.seconds is not None]
    evals = [result.n_evals for result in results if result.n_evals is not None]
    unknown = len(results) - len(timed)
    remark = f" ({unknown} experiments from before a resumption not counted)" if unknown else ""
    end = "" if tuner.finished_ else ", interrupted"
    return {
        "experiments": f"{tuner.n_experiments_} of {tuner.max_experiments}{end}",
        "configurations": str(len({result.configuration for result in results})),
        "evaluations": f"{sum(evals):,}{remark}" if evals else "not known",
        "seconds": f"{sum(result.seconds or 0 for result in timed):.1f}{remark}",
        "failed experiments": str(sum(result.cost == np.inf for result in results)),
    }


RACE_HEADS = (
    *("race", "configurations", "steps", "experiments", "alive at the end", "rejected"),
    *("the best, by their numbers", "ended because"),
)


def race_row(race: Mapping[str, Any]) -> list[Any]:
    """Return a race as a table's row."""
    counts = [race[name] for name in ("iteration", "n_configurations", "n_steps", "n_experiments")]
    best = ", ".join(map(str, race["elites"]))
    return [*counts, len(race["alive"]), len(race["rejected"]), best, race["ended"]]


def rank_rows(results: Sequence[Result], elites: Sequence[int], names: Sequence[str]) -> list[list[Any]]:
    """Return, for every instance, its name, the steps that all elites have done, and their mean ranks."""
    steps: dict[int, dict[int, float]] = {}
    instances: dict[int, int] = {}
    for result in results:
        if result.configuration in elites:
            steps.setdefault(result.step, {})[result.configuration] = result.cost
            instances[result.step] = result.instance
    ranks: dict[int, list[Any]] = {}
    for step, costs in sorted(steps.items()):
        if len(costs) == len(elites):
            ranks.setdefault(instances[step], []).append(rankdata([costs[number] for number in elites]))
    rows = [
        [names[instance], len(by_step), *(f"{rank:.2f}" for rank in np.mean(by_step, axis=0))]
        for instance, by_step in sorted(ranks.items())
    ]
    if rows:
        every = np.concatenate([np.array(by_step) for by_step in ranks.values()])
        rows.append(["all", len(every), *(f"{rank:.2f}" for rank in every.mean(axis=0))])
    return rows


def importance(trials: Sequence[FrozenTrial]) -> str:
    """Return a plot of the parameters' importance, or why there is none."""
    from optuna.importance import FanovaImportanceEvaluator, get_param_importances

    valued = [trial for trial in trials if trial.value is not None]
    if len({trial.value for trial in valued}) < 2:
        return "<p>Too few configurations have ended for it.</p>"
    with quiet_optuna():
        study = optuna.create_study()
    for trial in valued:  # complete trials have the importance, and an eliminated configuration's is pruned
        study.add_trial(create_trial(params=trial.params, distributions=trial.distributions, value=trial.value))
    shares = get_param_importances(study, evaluator=FanovaImportanceEvaluator(seed=0))
    if not shares:
        return "<p>No parameter is one of all configurations.</p>"
    return report_plots.bars(shares)
