"""Minimizer: its parameters, plan, execution and files."""

from skde.minimizer.solver import Minimizer

__all__ = ["Minimizer"]
