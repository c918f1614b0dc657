"""The engine of a GPU: compilation, launches and recorded generations."""
