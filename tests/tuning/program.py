"""A program as a race calls it: numbers of configuration and instance, seed, instance, --NAME VALUE; the cost last."""

from __future__ import annotations

import sys
import time

_, configuration, instance_number, seed, instance, *options = sys.argv
params = dict(zip(options[::2], options[1::2], strict=True))
assert int(configuration) >= 1
assert int(seed) >= 0
assert instance == f"i{instance_number}"
x = float(params["--x"])
mode = params["--mode"]
print("a line before")
if mode == "hang":
    time.sleep(60)
if mode == "fail":
    sys.exit("it failed")
if mode == "silent":
    print("no number")
    sys.exit()
print((x - 0.5) ** 2, "and words")
