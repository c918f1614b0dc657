"""Compiled objectives of typed variables."""

from __future__ import annotations

from dataclasses import dataclass

import skde._cpu as _cpu
from skde.engines.state.spec import Compiled, CompiledDefaults
from skde.typing import FloatArray
from skde.variables import Variables


@dataclass(frozen=True)
class DecodedObjective(CompiledDefaults):
    """A compiled objective of typed variables, as one of the components that an algorithm searches.

    Attributes
    ----------
    objective : Compiled
        The objective of the values.
    variables : Variables
        The variables.
    """

    objective: Compiled
    variables: Variables

    @property
    def cpp_type(self) -> str:
        """The functor's C++ type."""
        return f"Decoded<skde::{self.objective.cpp_type}>"

    @property
    def cuda_options(self) -> tuple[str, ...]:
        """Options of NVRTC."""
        return self.objective.cuda_options

    @property
    def cpu_only(self) -> str | None:
        """The reason why the objective cannot run on a GPU."""
        return self.objective.cpu_only

    @property
    def decoded_variables(self) -> Variables:
        """The variables."""
        return self.variables

    @property
    def scratch(self) -> int:
        """Number of vectors of the box's length for the values and for the objective's own vectors."""
        return -(-(1 + self.objective.scratch) * len(self.variables) // len(self.variables.box))

    @property
    def arrays(self) -> tuple[FloatArray, ...]:
        """The arrays that the functor reads, in its order."""
        return self.objective.arrays

    def cpu_address(self, single: bool) -> int:
        """Return the address of the function that decodes and then calls the objective's."""
        return _cpu.decoding_address(single)

    def value_address(self, single: bool) -> int:
        """Return the address of the objective's function."""
        return self.objective.cpu_address(single)
