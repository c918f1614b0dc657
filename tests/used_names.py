"""Names that tests use."""

from __future__ import annotations

import ast
from pathlib import Path


def used_names(folder: Path) -> set[str]:
    """Return the names in the code of a folder's test files: not those in texts, comments and imports."""
    trees = [ast.parse(path.read_text()) for path in folder.rglob("test_*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return {node.id for node in nodes if isinstance(node, ast.Name)} | {
        node.attr for node in nodes if isinstance(node, ast.Attribute)
    }
