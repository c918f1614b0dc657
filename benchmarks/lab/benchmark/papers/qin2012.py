"""Tables 1 to 3 and Figs. 3 to 6 of Qin and others, 2012.

A. K. Qin, F. Raimondo, F. Forbes, Y. S. Ong: An improved CUDA-based implementation of differential evolution on GPU
(GECCO 2012). DE/rand/1/bin with F = 0.5 and CR = 0.3, 25 runs, on a GeForce GTX 560; sequential DE on a Xeon E5410.
"""

from __future__ import annotations

from typing import ClassVar

from skde.algorithms import DE
from skde.benchmark.protocol import Miniature, PaperExperiment, Place, find_timed_models
from skde.benchmark.published_tables import Note, Paper
from skde.benchmark.reproduction import Reproduction

TABLES = {"1": 10, "2": 50, "3": 100}  # the tables' numbers of variables
FUNCTIONS, POP_SIZES = ("F1", "F2", "F3", "F4"), (50, 100, 500, 1000)
# Evaluations for each variable: as printed, and those that the paper's times and solved functions fit.
BUDGETS = {"1e4*D": 10_000, "1e5*D": 100_000}
TENFOLD = "1e5*D"
SECONDS = ("seconds", "seconds")
FIGURES = {"F1": "fig. 3", "F2": "fig. 4", "F3": "fig. 5", "F4": "fig. 6"}
# The figures' implementations as execution models, and ours; "auto" is "persistent" where there is that.
MODELS = {
    "serial": "sDE",
    "kernels": "cudaDE",
    "fpde": "FPDE",
    "fused": "cudaDE_i",
    "persistent": "skde",
    "auto": "skde",
}
OF_TABLES = ("fused", "persistent", "auto")


class Qin2012(Reproduction):
    """DE on four shifted functions, with the printed budget and with ten times as many evaluations."""

    paper: ClassVar[Paper] = Paper(
        name="qin2012",
        title="Qin et al., An improved CUDA-based implementation of differential evolution on GPU (GECCO 2012)",
        machine="GeForce GTX 560",
        suite="qin2012",
        runs=25,
        fixed=True,
        notes=(
            Note(
                "the tables cannot have the printed budget of 1e4*D evaluations: see the rows of 1e5*D",
                parts=("1e4*D",),
            ),
            Note(
                "still falling: 3.8 after 1e6 evaluations, 2.7 after 1.1e6 (1000 individuals, official data)",
                "F2",
                dims=(10,),
                parts=("1e5*D",),
            ),
            Note("a single run of the paper's 25", "F2", dims=(50,), parts=("1e5*D",)),
            Note(
                "still falling: 44 after 1e7 evaluations, 41 after 1.1e7, 36 after 1.3e7 (100 individuals, 5 runs, "
                "generated data); the paper's deviation is ten times as large",
                "F2",
                dims=(100,),
                parts=("1e5*D",),
            ),
            Note(
                "depends on CR: in 50 variables with 100 individuals, five runs of 5e6 evaluations end at 71 with the "
                "paper's 0.3, at 0 with 0.2 and 0.1, at 206 with 0.7; no budget gives the paper's figures with 0.3",
                "F4",
                dims=(50, 100),
                parts=("1e5*D",),
            ),
        ),
    )
    miniature: ClassVar[Miniature] = Miniature(3, 0.1, ("F1", "F4"), (10, 50), (50, 1000))

    def experiments(self, device: str) -> list[PaperExperiment]:
        """Return the experiments of the tables with both budgets, then the times."""
        values = [
            PaperExperiment(
                budget,
                function,
                dim,
                "de",
                DE(strategy="rand/1/bin", F=0.5, CR=0.3, pop_size=pop_size),
                {"max_evals": evals * dim},
                self.places(table, function, pop_size, budget),
            )
            for table, dim in TABLES.items()
            for budget, evals in BUDGETS.items()
            for function in FUNCTIONS
            for pop_size in POP_SIZES
        ]
        return values + self.time_experiments(device)

    def time_experiments(self, device: str) -> list[PaperExperiment]:
        """Return the experiments of the times, with runs one after another."""
        return [
            PaperExperiment(
                f"time {model}",
                function,
                dim,
                model,
                DE(strategy="rand/1/bin", F=0.5, CR=0.3, pop_size=pop_size),
                {"max_evals": BUDGETS[TENFOLD] * dim},
                (
                    Place(FIGURES[function], f"{MODELS[model]} ({model}), D={dim}", f"P{pop_size}", *SECONDS),
                    *(
                        [Place(table, function, f"P{pop_size}", *SECONDS, f"{function}, {TENFOLD}, {model}")]
                        if model in OF_TABLES and device != "cpu"
                        else []
                    ),
                ),
                model=model,
                alone=True,
            )
            for model in find_timed_models(MODELS, device)
            for table, dim in TABLES.items()
            for function in FUNCTIONS
            for pop_size in POP_SIZES
        ]

    @staticmethod
    def places(table: str, function: str, pop_size: int, budget: str) -> tuple[Place, ...]:
        """Return the cells of the errors and of the share of solved runs."""
        column, label = f"P{pop_size}", f"{function}, {budget}"
        return (
            Place(table, function, column, label=label),
            Place(table, function, column, "success", "success", label),
        )
