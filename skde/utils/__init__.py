"""Arrays, files, memory, checks and seeds, which all other packages may use."""
