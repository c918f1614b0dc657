"""Table 2 of Nashed and others, 2012, and their tuning of the parameters in Table 1.

Y. S. G. Nashed, P. Mesejo, R. Ugolotti, J. Dubois-Lacoste, S. Cagnoni: A comparative study of three GPU-based
metaheuristics (PPSN XII, 2012). Mean and standard deviation of the best values of 100 runs, of one second each on a
GeForce GTS 450; in single precision, as figures below 1e-38 show. Everything is legible; 9.7e-012 and 9.9e-012 (f6) are
9.7e-12 and 9.9e-12.
"""

from __future__ import annotations

from skde.benchmark.papers.paper import Figure, Note, Paper, Tuning

DIMS, ALGORITHMS = (10, 30), ("de", "pso", "ss")

# For each dimension, and in it for each algorithm: mean, standard deviation.
TABLE = """
f0       0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0
f1       0.0     0.0     0.0     0.0  2.5e-3  9.2e-3     0.0     0.0     0.0     0.0  2.2e-6  6.3e-6
f2       0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0 4.1e-44 8.6e-44
f3       0.0     0.0     0.0     0.0 7.0e-45 2.9e-44     0.0     0.0     0.0     0.0  6.7e-5  3.0e-4
f4       0.0     0.0     0.0     0.0 1.1e-25 1.7e-25     0.0     0.0     0.0     0.0 5.1e-24 2.7e-24
f5       0.0     0.0     0.0     0.0     0.0     0.0 2.5e-28 3.4e-28 1.8e-28 2.2e-28  1.2e-5  1.7e-5
f6       0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0 9.7e-12 9.9e-12  2.5e-3  3.3e-3
f7    9.8e-6  6.9e-5  1.0e-3  4.0e-4  2.7e-4  3.5e-4  2.1e+2  3.3e+2  3.8e+3  1.1e+3  9.9e+2  3.4e+2
f8    5.0e-1  5.0e-8  3.5e-2  1.3e-1  2.9e-1  2.5e-1  5.0e-1     0.0  4.2e-1  1.9e-1  5.0e-1  2.1e-5
f9       0.0     0.0  5.2e-1  7.8e-1  6.9e-1  9.1e-1     0.0     0.0  7.2e+1  1.6e+1  3.5e+1  9.7e+0
f10   5.9e+0  3.1e+1  1.2e+2  1.2e+2  8.1e+1  1.1e+2  1.7e+1  4.8e+1  2.9e+3  4.1e+2  2.4e+3  9.0e+2
f11   1.2e-3  4.9e-6  1.2e-3  2.9e-5  1.2e-3 2.4e-18  1.2e-2  5.1e-5  1.2e-2  1.8e-4  1.2e-2 8.7e-18
f12      0.0     0.0  1.1e-2  1.0e-2  1.1e-3  2.9e-3  7.4e-5  7.4e-4 6.3e-10  6.0e-9  1.5e-3  4.3e-3
f13      0.0     0.0  3.9e-7  4.8e-7  5.9e-1  3.3e+0     0.0     0.0  2.1e-1  7.2e-1  2.2e+1  2.6e+1
f14      0.0     0.0  6.7e-7  1.1e-6     0.0     0.0  1.1e-6  1.2e-6  4.5e-6  9.4e-7  9.3e-3  9.3e-2
f15      0.0     0.0  1.2e-3  6.5e-3 6.3e-31 4.4e-30     0.0     0.0 1.5e-28 1.2e-27 1.1e-27 2.7e-27
f16   3.3e-2  2.9e-2  1.0e-1  2.4e-2  7.3e-1  5.4e-1  3.2e-1  3.0e-2  8.5e+0  8.6e-1  8.7e+0  1.2e+0
f17   4.5e+1  2.2e+2  1.3e+0  5.1e+0  4.7e+0  8.5e+0  2.8e+4  6.1e+3  3.1e+4  1.8e+4  5.2e+3  5.6e+3
f18   1.0e-1 2.8e-17  1.0e-1 2.8e-17  9.8e-2  1.4e-2  1.9e-1  3.1e-2  2.0e-1  1.7e-2  2.4e-1  5.1e-2
f19      0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0     0.0  2.3e-2  1.0e-1
"""

DATA = "matrices and minimisers are drawn here; the paper's are those of CEC 2005"
NOTES = (
    Note(
        "the paper has no formula, only f_griewank(f_rosenbrock), and its DE found 0 in all runs: what it ran is "
        "easier than the expanded function of CEC 2005, which is ours",
        "f15",
    ),
    Note(
        f"{DATA}; on five other draws the swarm's mean was 1.3e4 to 2.7e4 (6 runs of 1e6 evaluations), so they do not "
        'explain all of it; with topology="random" it is 5.5e3, which would make f6 and f9 unlike the paper\'s',
        "f7",
        ("pso",),
        (30,),
    ),
    Note(f"{DATA}; on five other draws DE's mean was 7e-7 to 1.4e3 (6 runs)", "f7", ("de",), (30,)),
    Note(f"{DATA}; on four other draws DE's mean was 7 to 1.2e3 (16 runs)", "f17", ("de",), (10,)),
    Note(
        f"{DATA}; on four other draws the swarm's mean was 7e-5 to 1.5e2 (16 runs of 1e6 evaluations)",
        "f17",
        ("pso",),
        (10,),
    ),
    Note(DATA, "f7"),
    Note(DATA, "f17"),
    Note(
        "falls with the evaluations: 2.8 after 5e5, 1.1 after 3e6, 0.25 after 6e6; in 10 variables the paper's swarm "
        "may have made more of them",
        "f9",
        ("pso",),
        (10,),
    ),
    Note("a few runs end in a valley that is 118 higher: as it seems, about 5 of the paper's 100", "f10", ("de",)),
    Note("minima 118 apart, of which every run finds one", "f10", ("pso",), (10,)),
    Note(
        "depends on how many neighbours a particle has, which the paper does not say: two, as its source has, 3178 "
        "(458) on average over 100 runs of 1e6 evaluations; four 3066 (397), six 2919 (379), eight 2795 (409)",
        "f10",
        ("pso",),
        (30,),
    ),
    Note("a single run ends in the valley at 7.4e-3, none of the paper's 100", "f12", ("de",)),
    Note("still falling with the evaluations", "f13", ("pso",)),
    Note("still falling with the evaluations", "f16"),
    Note("runs end in one of two minima, at 0 and at 0.5, which the paper's mean has too", "f8", ("ss",), (10,)),
    Note(
        "a third of the runs ends in minima at 7e-3 to 2e-2, far from the best: what the paper's search does when its "
        "references stagnate is not said",
        "f12",
        ("ss",),
        (10,),
    ),
    Note(
        "all runs end in the minimum at 0.0999; of the paper's 100, about two found a better one", "f18", ("ss",), (10,)
    ),
    Note("runs end at 0.2 or 0.3: 3 of 30 at 0.3, with another seed none", "f18", ("pso",), (30,)),
)

TUNING = Tuning(
    table=1,
    dim=30,
    max_experiments=30_000,
    budget="1s",
    parameters={
        "de": ("strategy", "F", "CR", "pop_size"),
        "pso": ("w", "c1", "c2", "pop_size"),
        "ss": ("n_best", "n_diverse", "lambda_", "n_local", "update", "pop_size"),
    },
)


def figures() -> dict[tuple[str, int], dict[str, Figure]]:
    """Return the table by algorithm and dimension, then function."""
    rows = {name: [float(number) for number in numbers] for name, *numbers in map(str.split, TABLE.split("\n")[1:-1])}
    columns = [(algorithm, dim) for dim in DIMS for algorithm in ALGORITHMS]
    return {
        column: {name: (numbers[2 * k], numbers[2 * k + 1]) for name, numbers in rows.items()}
        for k, column in enumerate(columns)
    }


PAPER = Paper(
    name="nashed2012",
    title="Nashed et al., A comparative study of three GPU-based metaheuristics (PPSN XII, 2012), Table 2",
    table=2,
    suite="nashed2012-as-run",
    runs=100,
    zero=1e-12,
    figures=figures(),
    notes=NOTES,
    tuning=TUNING,
)
