"""The commands `skde bench ...`: measurements of speed and of quality."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

from skde.cli_arguments import add_command, number, whole
from skde.cli_minimize import check_writable, plain, to_json
from skde.validation import check_choice


def add_bench(commands: Any) -> None:
    """Add `skde bench` and its measurements."""
    bench = add_command(commands, "bench", "measurements", None, example="skde bench speed --json")
    measurements = bench.add_subparsers(metavar="MEASUREMENT", required=True)
    add_speed(measurements)


def add_speed(commands: Any) -> None:
    """Add `skde bench speed`."""
    what = "speed next to SciPy, pygmo and minionpy where they are installed, as ratios taken in one run"
    example = "skde bench speed --device cuda --out speed.json"
    add = add_command(commands, "speed", what, bench_speed, example).add_argument
    add("--device", default="cpu", help="cpu, cuda or cuda:N (default: cpu)")
    add("--threads", type=whole, default=2, metavar="N", help="of the comparison with one thread (default: 2)")
    add("--seconds", type=number, default=0.2, help="of every repeat of a measurement on the CPU (default: 0.2)")
    add("--out", type=Path, metavar="FILE", help="also write the record, JSON, to a file")


def bench_speed(options: Any) -> int:
    """Measure, print and keep."""
    from skde.benchmark import speed

    if not re.fullmatch(r"cuda:\d+", options.device):
        check_choice("--device", options.device, ("cpu", "cuda", "cuda:0"))
    if options.out is not None:
        check_writable("--out", options.out)

    def say(text: str) -> None:
        if sys.stderr.isatty():
            print(f"measuring {text}", file=sys.stderr)

    record = speed.measure(
        options.device, threads=options.threads, seconds=options.seconds, command=options.command_line, say=say
    )
    if options.out is not None:
        options.out.write_text(json.dumps(plain(record), indent=1, allow_nan=False) + "\n")
    print(to_json(record) if options.json else speed.table(record))
    return 0
