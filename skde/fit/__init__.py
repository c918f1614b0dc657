"""A fit: its plan, the schedule of its phases, their loops, ask and tell, and its results."""
