"""The command line `skde`: one module a command."""
