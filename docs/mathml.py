"""Formulas as MathML, made from LaTeX when the site is built.

docutils, on which Sphinx stands, makes MathML of LaTeX, and browsers draw it themselves. So
formulas need no script and no other host, and the site can be read from a folder on disk; MathJax
is a megabyte of scripts from elsewhere. ``_static`` has the part of a font that formulas need.
"""

from __future__ import annotations

import re
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

log = logging.getLogger(__name__)
ACCENTED = re.compile(r"\\(?:dot|ddot|hat|bar) *(?:\\[A-Za-z]+|\w)(?=[_^])")
LARGER = re.compile(r"\\(?:big|Big|bigg|Bigg)(?![A-Za-z])")  # brackets, which grow by themselves
ABOVE = re.compile(r"\\frac *(\w)")
BELOW = re.compile(r"(\\frac\{(?:[^{}]|\{[^{}]*\})*\}) *(\w)")
FUNCTION = re.compile(r"(\w *)?\\(sin|cos|log|det)(?![A-Za-z])( *(?=[\\\w]))?")


def setup(app: Any) -> dict[str, Any]:
    """Joins Sphinx: ``html_math_renderer = "mathml"`` chooses it."""
    app.add_html_math_renderer("mathml", (inline, None), (display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def inline(writer: Any, node: nodes.math) -> None:
    """A formula within a line."""
    writer.body.append(made(node, as_block=False))
    raise nodes.SkipNode


def display(writer: Any, node: nodes.math_block) -> None:
    """A formula with a line of its own, which scrolls where the screen is narrow."""
    writer.body.append(writer.starttag(node, "div", CLASS="formula"))
    writer.body.append(f"{made(node, as_block=True)}</div>\n")
    raise nodes.SkipNode


def made(node: nodes.Element, as_block: bool) -> str:
    """The MathML of a node; a formula that cannot be read is a warning, and stays as it is."""
    try:
        return str(tex2mathml(mended(node.astext()), as_block=as_block))
    except MathError as error:
        log.warning("formula %s: %s", node.astext(), error, location=node)
        return f"<code>{nodes.unescape(node.astext())}</code>"


def mended(tex: str) -> str:
    """LaTeX as docutils reads it right.

    It sets an index under an accented letter, not beside it, unless the letter stands in a group
    with something else, be it nothing; it sets no space around the names of functions; of a
    fraction it wants both parts in braces; and some words it does not know.
    """
    tex = LARGER.sub("", tex).replace(r"\dots", r"\ldots").replace("{gathered}", "{matrix}")
    tex = BELOW.sub(r"\1{\2}", ABOVE.sub(r"\\frac{\1}", tex))
    braced = ACCENTED.sub(lambda found: f"{{{{}}{found[0]}}}", tex)
    return FUNCTION.sub(spaced, braced)


def spaced(found: re.Match[str]) -> str:
    """A function's name with thin spaces where a letter stands beside it."""
    before, name, after = found.groups()
    return (f"{before}\\," if before else "") + f"\\{name}" + ("\\," if after is not None else "")
