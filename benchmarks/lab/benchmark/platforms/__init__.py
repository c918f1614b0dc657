"""Suites of other packages: COCO, IOHexperimenter and minionpy."""
