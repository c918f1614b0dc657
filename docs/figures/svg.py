"""Plots as SVG: the same sources give the same bytes, with no more points than can be seen."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import Any

import numpy as np

from skde.typing import FloatArray

COLOUR = "#1f5fa8"
VISIBLE = 0.3  # points of 1/72 inch: a path is drawn at most this far from its place
POLYLINE = re.compile(r'd="(M [\d.LM\s-]+?)(z?)\s*"')
STYLED = re.compile(r'style="([^"]+)"')
STYLE = {
    "svg.hashsalt": "skde",
    "svg.fonttype": "none",
    "font.size": 9,
    "font.sans-serif": ["DejaVu Sans", "sans-serif"],
    "axes.grid": True,
    "grid.alpha": 0.3,
}


def draw_svg(size: tuple[float, float], draw: Callable[[Any], None]) -> bytes:
    """Return an SVG of a size in inches, with what `draw` adds to the figure."""
    import matplotlib
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    style: Any = {**matplotlib.rcParamsDefault, **STYLE, "backend": "svg"}
    with matplotlib.rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasSVG(figure)
        draw(figure)
        out = io.BytesIO()
        figure.savefig(out, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    return shorten(out.getvalue().decode()).encode()


def shorten(text: str) -> str:
    """Return an SVG with thin paths, two decimals, each style once, and no names of groups."""
    text = re.sub(r'<g id="[^"]*"', "<g", text)
    text = POLYLINE.sub(lambda found: f'd="{thin_path(found[1])}{found[2]}"', text)
    text = re.sub(r"(\.\d\d)\d+", r"\1", text)
    text = "".join(line.strip() + "\n" for line in text.splitlines())
    styles = {style: f"s{number}" for number, style in enumerate(dict.fromkeys(re.findall(STYLED, text)))}
    text = re.sub(STYLED, lambda found: f'class="{styles[found[1]]}"', text)
    rules = "".join(f".{name}{{{style}}}" for style, name in styles.items())
    return text.replace("</style>", f"{rules}</style>", 1)


def thin_path(text: str) -> str:
    """Return the lines of a path, each with the points that can be seen."""
    lines = [np.array(line.replace("L", " ").split(), float).reshape(-1, 2) for line in text.split("M")[1:]]
    return "".join("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in thin(line)) for line in lines)


def thin(points: FloatArray, width: float = VISIBLE) -> FloatArray:
    """Return the points of a line without those that it passes at less than a width (Ramer, Douglas and Peucker)."""
    chord, offsets = points[-1] - points[0], points - points[0]
    length = np.hypot(*chord)
    across = np.abs(chord[0] * offsets[:, 1] - chord[1] * offsets[:, 0]) / length if length else np.hypot(*offsets.T)
    furthest = int(across.argmax())
    if across[furthest] < width:
        return points[[0, -1]]
    return np.concatenate([thin(points[: furthest + 1], width)[:-1], thin(points[furthest:], width)])
