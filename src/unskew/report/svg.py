"""From a chart to an inline SVG: labels become tooltips, colours become classes, everything else stays out."""

from __future__ import annotations

import json
import re
from typing import Any
from xml.etree import ElementTree

from unskew.core.errors import MissingExtraError
from unskew.core.outputs import try_drawing
from unskew.report.document import Chart
from unskew.report.plots import INK, SIZE, SOFT

GRID = "#e3e6ec"
_SPACE = "http://www.w3.org/2000/svg"
_NOISE = {"role", "aria-roledescription", "aria-hidden", "class", "stroke-miterlimit", "pointer-events", "font-family"}
_MARKS = {f"{{{_SPACE}}}{tag}" for tag in ("path", "line", "rect")}
_PRIVATE = range(0xE000, 0xF900)
_LONG = re.compile(r"-?\d+\.\d{2,}")

_AXIS = {"labelColor": SOFT, "titleColor": SOFT, "gridColor": GRID, "domainColor": GRID, "tickColor": GRID}
_LOOK = {
    "background": "transparent",
    "padding": 4,
    "view": {"stroke": None},
    "axis": _AXIS | {"labelFontSize": SIZE, "titleFontSize": SIZE, "titleFontWeight": "normal"},
    "axisY": {"grid": False, "labelColor": INK},
}


def converter() -> Any:
    """The library that draws, or an error that names the extra to install."""
    try:
        import vl_convert
    except ImportError:
        raise MissingExtraError("the HTML report", "report") from None
    try_drawing()
    return vl_convert


def draw(chart: Chart) -> str:
    """A chart as SVG for a page."""
    vl_convert = converter()
    spec = json.dumps({**chart.spec, "config": _LOOK, "datasets": chart.data}, ensure_ascii=False)
    there, back = _stand_ins(spec)
    text = vl_convert.vegalite_to_svg(spec.translate(there), allowed_base_urls=[], show_warnings=False)
    root = ElementTree.fromstring(text.translate(back))
    _strip(root)
    root.set("role", "img")
    root.set("aria-label", chart.label)
    ElementTree.register_namespace("", _SPACE)
    return ElementTree.tostring(root, encoding="unicode").replace(f' xmlns="{_SPACE}"', "", 1)


def _stand_ins(spec: str) -> tuple[dict[int, int], dict[int, int]]:
    """Characters for private use in place of those that need two code units, such as emoji, and the way back.

    The converter cuts long labels between two code units, and then fails over the half that is left.
    """
    wide = sorted({ord(sign) for sign in spec if ord(sign) > 0xFFFF or ord(sign) in _PRIVATE})
    there = dict.fromkeys(wide, ord("□")) | dict(zip(wide, _PRIVATE, strict=False))
    return there, dict(zip(_PRIVATE, wide, strict=False))


def _strip(node: ElementTree.Element) -> None:
    """Drop what a page does not need, and turn each mark's description into a tooltip."""
    label = node.attrib.pop("aria-label", None)
    for name in _NOISE & node.attrib.keys():
        del node.attrib[name]
    for name in ("d", "transform", "x1", "x2", "y1", "y2"):
        if name in node.attrib:
            node.set(name, _LONG.sub(lambda found: f"{float(found[0]):.1f}", node.attrib[name]))
    for child in list(node):
        _strip(child)
        hidden = child.tag == f"{{{_SPACE}}}text" and child.get("opacity") == "0"  # because another label is there
        if hidden or (child.tag == f"{{{_SPACE}}}g" and not len(child)):
            node.remove(child)
    if label and node.tag in _MARKS:
        ElementTree.SubElement(node, f"{{{_SPACE}}}title").text = label
