"""A plot's SVG made fit to stand inside an HTML page beside others: own ids, own style, nothing that is loaded."""

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from tripleaudit.errors import UserError

SVG = "http://www.w3.org/2000/svg"
XLINK = "http://www.w3.org/1999/xlink"
DROPPED = ("metadata", "script", "foreignObject", "iframe", "animate", "set", "image", "a")


def inline_svg(path: str | Path, prefix: str, title: str) -> str:
    """Return the ``<svg>`` element of a file with ids that start with ``prefix`` and an accessible name.

    Scripts, handlers of events and references to anything outside of the file are left out.

    Raises:
        UserError: the file is missing or is no SVG.
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        if "<!ENTITY" in text:
            raise UserError(f"{path}: an SVG with entities of its own; expected a plot of this program")
        root = ElementTree.fromstring(text)
    except FileNotFoundError as error:
        raise UserError(f"{path}: no such file") from error
    except (ElementTree.ParseError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: not an SVG ({error})") from error
    if root.tag != f"{{{SVG}}}svg":
        raise UserError(f"{path}: not an SVG, the outermost element is {root.tag!r}")
    for parent in list(root.iter()):
        for child in list(parent):
            if not isinstance(child.tag, str) or child.tag.rpartition("}")[2] in DROPPED:
                parent.remove(child)
    for element in root.iter():
        _clean(element, prefix)
    root.set("role", "img")
    root.set("aria-label", title)
    root.set("class", "plot-image")
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    return ElementTree.tostring(root, encoding="us-ascii", xml_declaration=False).decode("ascii")


def _clean(element: ElementTree.Element, prefix: str) -> None:
    if element.tag == f"{{{SVG}}}style" and element.text:
        element.text = re.sub(r"(^|\})\s*\*\s*\{", r"\1.plot-image *{", element.text.replace("@import", ""))
    for name, value in list(element.attrib.items()):
        local = name.rpartition("}")[2]
        if local == "id":
            element.set(name, f"{prefix}-{value}")
        elif local == "href":
            if value.startswith("#"):
                element.set(name, f"#{prefix}-{value[1:]}")
            else:
                del element.attrib[name]
        elif local.startswith("on"):
            del element.attrib[name]
        elif "url(" in value:
            changed = re.sub(r"url\(\s*['\"]?#", f"url(#{prefix}-", value)
            element.set(name, re.sub(r"url\((?!#)[^)]*\)", "none", changed))
