"""Ranks of "auto" with large budgets on the suites of held_out.py, after its choice for 10 to 15 variables changed.

The functions are as in held_out_middle.py, in at most 15 variables. The finished parts are lines of a file; the same
command does not repeat them.
"""

from __future__ import annotations

from collections.abc import Sequence

from comparison import OWN, PEERS, parse_arguments
from held_out_middle import GROUPS, write_reading

PER_VARIABLE = 10_000
LARGE_GROUPS = {group: (GROUPS[group][0], (*OWN, *PEERS)) for group in ("again", "at most 15")}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the record."""
    write_reading(*parse_arguments(__doc__, "held_out_large.py", arguments), PER_VARIABLE, LARGE_GROUPS)


if __name__ == "__main__":
    main()
