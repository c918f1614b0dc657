"""Targets: whatever can be tuned."""
