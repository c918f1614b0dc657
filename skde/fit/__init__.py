"""The parts of a fit: its runner, the loops of generations, ask and tell, the polish, and its results."""
