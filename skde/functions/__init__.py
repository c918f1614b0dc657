"""Functions of one point, as users write them: their forms, names and workers."""
