"""Curves in notebooks: inline SVG, without matplotlib."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import numpy as np

from skde.curves import FLOOR, band_of, is_logarithmic
from skde.result import History
from skde.typing import FloatArray

WIDTH, HEIGHT = 360, 120  # pixels
LEFT, RIGHT, TOP, BOTTOM = 58, 10, 22, 18
POINTS = 150
COLOUR = "#1f77b4"


def html_with(curve: Callable[[], str], described: Callable[[], str]) -> Callable[[], str]:
    """Return a `_repr_html_` that shows scikit-learn's description of an estimator, and then a curve."""
    return lambda: described() + curve()


def bundle_with(curve: Callable[[], str], bundle: dict[str, Any]) -> dict[str, Any]:
    """Return the result of `_repr_mimebundle_` of scikit-learn with a curve after its HTML, if it has one."""
    return {**bundle, "text/html": bundle["text/html"] + curve()} if "text/html" in bundle else bundle


def convergence_svg(histories: Sequence[History], caption: str, tooltip: str) -> str:
    """Return the best value against evaluations as an SVG element: the median of the runs, and their quartiles."""
    band = band_of(histories)
    return curve_svg(band.x, np.stack(band[1:]), caption, "evaluations", tooltip)


def curve_svg(x: Any, values: Any, caption: str, x_label: str, tooltip: str) -> str:
    """Return a curve as an SVG element, on a logarithmic axis where the values are positive and of a wide range.

    Parameters
    ----------
    x : array-like of shape (n,)
        Places.
    values : array-like of shape (3, n)
        Lower end of a band, middle and upper end.
    caption : str
        The text above.
    x_label : str
        The name of the horizontal axis.
    tooltip : str
        The text that a browser shows under the pointer.

    Returns
    -------
    svg : str
        Empty without a finite value. Text and axes have the colour of the page's text, so that it can be dark.

    Examples
    --------
    >>> from skde.notebook import curve_svg
    >>> curve_svg([0, 1], [[1, 0], [2, 1], [3, 2]], "two points", "fits", "").startswith("<svg")
    True
    """
    places, low, middle, high = np.asarray(x, np.float64), *np.asarray(values, np.float64)
    finite = np.isfinite(low) & np.isfinite(middle) & np.isfinite(high)
    if not finite.any():
        return ""
    rows = np.flatnonzero(finite)
    rows = rows[np.unique(np.linspace(0, len(rows) - 1, POINTS).astype(int))]
    places, band = places[rows], np.stack([low, middle, high])[:, rows]
    log = is_logarithmic(band)
    heights = np.log10(np.maximum(band, FLOOR)) if log else band
    bottom, top = float(heights.min()), float(heights.max())
    pixels_y = HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * unit(heights, bottom, top)
    pixels_x = LEFT + (WIDTH - LEFT - RIGHT) * unit(places, float(places[0]), float(places[-1]))
    outline = points_text(np.append(pixels_x, pixels_x[::-1]), np.append(pixels_y[0], pixels_y[2][::-1]))
    labels = [(band.max(), TOP + 4), (max(float(band.min()), FLOOR) if log else band.min(), HEIGHT - BOTTOM)]
    parts = [
        f"<title>{escape(tooltip)}</title>",
        f'<polygon points="{outline}" fill="{COLOUR}" fill-opacity="0.25"/>',
        f'<polyline points="{points_text(pixels_x, pixels_y[1])}" fill="none" stroke="{COLOUR}" stroke-width="1.5"/>',
        f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="currentColor" opacity="0.4"/>',
        f'<text x="{LEFT}" y="12">{escape(caption)}</text>',
        *(f'<text x="{LEFT - 4}" y="{y}" text-anchor="end">{value:.3g}</text>' for value, y in labels),
        f'<text x="{LEFT}" y="{HEIGHT - 4}">{places[0]:,.0f}</text>',
        f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 4}" text-anchor="end">{places[-1]:,.0f} {escape(x_label)}</text>',
    ]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}" '
        f'role="img" aria-label="{escape(caption)}" font-family="sans-serif" font-size="10" fill="currentColor">'
        f"{''.join(parts)}</svg>"
    )


def unit(values: FloatArray, low: float, high: float) -> FloatArray:
    """Return values scaled to [0, 1]; 0.5 where all are equal."""
    return (values - low) / (high - low) if high > low else np.full_like(values, 0.5)


def points_text(x: FloatArray, y: FloatArray) -> str:
    """Return points as SVG has them, in tenths of a pixel."""
    return " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(x.tolist(), y.tolist(), strict=True))
