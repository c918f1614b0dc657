"""SciPy's interface: `minimize`, `scipy_method` and `differential_evolution`."""
