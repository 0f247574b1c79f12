"""Horizontal bars in groups, as SVG. One file serves light and dark: it asks the reader's system.

A logarithmic scale begins at the power of ten at or below the least value, so that a bar's length
compares orders of magnitude; each bar has its value beside it. A value that is missing has no bar.
"""

import math
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, BAR, GAP, LEGEND = 760, 225, 60, 14, 14, 20
# An engine has one colour on all charts, and shades of it for its variants: (light, dark).
SHADES = {
    "maskd": [("#0969da", "#4493f8"), ("#54aeff", "#79c0ff"), ("#0a3069", "#cae8ff")],
    "llguidance": [("#1a7f37", "#3fb950")],
    "xgrammar": [("#bc4c00", "#f0883e"), ("#fb8f44", "#ffb77c")],
    "": [("#6e7781", "#9198a1"), ("#8250df", "#ab7df8"), ("#bf8700", "#d29922")],
}


def style(series: list) -> str:
    """The sheet of a chart: class s0 is the first series."""
    used, light, dark = {}, [], []
    for at, name in enumerate(series):
        family = next(key for key in SHADES if name.startswith(key))
        shade = SHADES[family][used.get(family, 0)]
        used[family] = used.get(family, 0) + 1
        light.append(f".s{at} {{ fill: {shade[0]}; }}")
        dark.append(f".s{at} {{ fill: {shade[1]}; }}")
    return "\n".join([
        "<style>", "text { font: 12px system-ui, sans-serif; fill: #1f2328; }",
        ".title { font-size: 14px; font-weight: 600; }", ".quiet { fill: #59636e; }", ".page { fill: #ffffff; }", "line { stroke: #d1d9e0; }",
        *light, "@media (prefers-color-scheme: dark) {",
        "text { fill: #f0f6fc; } .quiet { fill: #9198a1; } line { stroke: #3d444d; } .page { fill: #0d1117; }", *dark, "}", "</style>"])


def scale(values: list, logarithmic: bool) -> tuple:
    """The place of a value between 0 and 1, and the values that have a line."""
    if not logarithmic:
        most = max(values)
        step = 10 ** math.floor(math.log10(most))
        step = step if most / step > 2 else step / 2
        return (lambda value: value / most), [step * at for at in range(int(most / step) + 1)]
    low = math.floor(math.log10(min(values)))
    high = max(low + 1, math.ceil(math.log10(max(values))))
    return ((lambda value: (math.log10(value) - low) / (high - low)),
            [10.0 ** power for power in range(low, high + 1)])


def tick(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 or value == 0 else f"{value:g}"


def legend(series: list) -> tuple:
    """The names with their colours, as many a line as fit, and where the next thing begins."""
    parts, x, y = [], 12, 46
    for at, name in enumerate(series):
        width = 34 + 7 * len(name)
        if x + width > WIDTH:
            x, y = 12, y + LEGEND
        parts.append(f'<rect class="s{at}" x="{x:.0f}" y="{y - 10}" width="12" height="12"/>'
                     f'<text x="{x + 17:.0f}" y="{y}">{escape(name)}</text>')
        x += width
    return parts, y + 16


def bars(group: tuple, top: float, place, label) -> list:
    name, values = group
    parts = [f'<text x="{LEFT - 8}" y="{top + BAR * len(values) / 2 + 4:.0f}" text-anchor="end">{escape(name)}</text>']
    for at, value in enumerate(values):
        if value is None:
            continue
        y, width = top + BAR * at, place(value) * (WIDTH - LEFT - RIGHT)
        parts.append(f'<rect class="s{at}" x="{LEFT}" y="{y:.0f}" width="{max(width, 1):.1f}" height="{BAR - 2}"/>'
                     f'<text x="{LEFT + max(width, 1) + 5:.0f}" y="{y + 10:.0f}">{label(value)}</text>')
    return parts


def draw(title: str, series: list, groups: list, label, logarithmic: bool) -> str:
    """The text of an SVG file. `groups` are (name, one value or None a series)."""
    place, lines = scale([value for _, values in groups for value in values if value is not None], logarithmic)
    parts, top = legend(series)
    bottom = top + sum(BAR * len(values) + GAP for _, values in groups)
    for value in lines:
        x = LEFT + place(value) * (WIDTH - LEFT - RIGHT)
        parts.append(f'<line x1="{x:.0f}" x2="{x:.0f}" y1="{top}" y2="{bottom}"/>'
                     f'<text class="quiet" x="{x:.0f}" y="{bottom + 15}" text-anchor="middle">{tick(value)}</text>')
    y = top + GAP / 2
    for group in groups:
        parts += bars(group, y, place, label)
        y += BAR * len(group[1]) + GAP
    words = title + (", logarithmic scale" if logarithmic else "")
    return "\n".join([
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {bottom + 24}" role="img">',
        f"<title>{escape(words)}</title>", style(series),
        f'<rect class="page" width="{WIDTH}" height="{bottom + 24}"/>',
        f'<text class="title" x="12" y="22">{escape(words)}</text>', *parts, "</svg>"]) + "\n"
