"""SciPy's tests of differential_evolution, run with skde's function: those that pass, as JSON.

    python benchmarks/studies/scipy/scipy_tests.py --out benchmarks/records/scipy-tests.json

`tests/test_scipy_evolution.py` finds and runs the tests of the installed SciPy, with nothing changed but the import.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from xml.etree import ElementTree

import scipy

from skde.benchmark import provenance
from skde.benchmark.records import write_figures

ROOT = Path(__file__).resolve().parents[3]
TESTS = "test_of_scipy"


def outcomes(selected: str) -> list[dict[str, Any]]:
    """Return the names of the tests, and whether they pass."""
    with TemporaryDirectory() as folder:
        file = Path(folder) / "outcomes.xml"
        options = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", f"--junitxml={file}", "-k", selected]
        command = [sys.executable, "-m", "pytest", *options, "tests/test_scipy_evolution.py"]
        subprocess.run(command, cwd=ROOT, check=False)
        cases = list(ElementTree.parse(file).iter("testcase"))
    return [
        {"test": case.get("name", "").removeprefix(f"{TESTS}[").removesuffix("]"), "passed": len(case) == 0}
        for case in cases
    ]


def main(arguments: list[str]) -> list[dict[str, Any]]:
    """Run the tests, print the outcomes, and write a record if --out names a file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--select", default=TESTS, help="a part of their names, for fewer tests")
    parser.add_argument("--out", help="a file for the record, in JSON")
    options = parser.parse_args(arguments)
    rows = outcomes(options.select)
    print(f"{sum(row['passed'] for row in rows)} of {len(rows)} tests of SciPy {scipy.__version__} pass")
    if options.out:
        here = provenance(shlex.join(["python", "benchmarks/studies/scipy/scipy_tests.py", *arguments]))
        write_figures(options.out, {**here, "figures": rows})
    return rows


if __name__ == "__main__":
    main(sys.argv[1:])
