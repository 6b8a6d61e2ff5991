"""Notebooks: run cell by cell, as Jupyter does, and shown with what they print and draw.

They are kept without outputs, so that none can be old: the site runs them when it is built, the
tests run them too. A cell is plain Python; its last line, if it is an expression, is shown.
"""

from __future__ import annotations

import ast
import base64
import contextlib
import html
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "notebooks"
DOTS = 80  # of a picture, an inch
FENCE = "`" * 3


def setup(app: Any) -> dict[str, Any]:
    """Joins Sphinx, which reads notebooks as the Markdown that they become."""
    app.add_source_suffix(".ipynb", "markdown")
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def read(app: Any, document: str, source: list[str]) -> None:
    """Takes the place of a notebook's text: what it becomes."""
    path = Path(app.env.doc2path(document))
    if path.suffix == ".ipynb":
        source[0] = markdown(path)


def markdown(path: Path) -> str:
    """A notebook with what its cells print and show."""
    parts = []
    for kind, text, printed, shown in run(path):
        if kind == "markdown":
            parts.append(text)
            continue
        parts.append(f"{FENCE}python\n{text}\n{FENCE}")
        if printed:
            parts.append(f"{FENCE}text\n{printed.rstrip()}\n{FENCE}")
        if shown is not None:
            parts.append(f"{2 * FENCE}{{raw}} html\n{displayed(shown)}\n{2 * FENCE}")
    parts.append(f"{{download}}`This page as a notebook <{path.name}>`")
    return "\n\n".join(parts) + "\n"


def run(path: Path) -> Iterator[tuple[str, str, str, Any]]:
    """(kind, text, what it prints, what it shows) of each cell, run in the notebook's folder."""
    names: dict[str, Any] = {"__name__": "__main__"}
    with contextlib.chdir(path.parent), np.printoptions():  # both its own
        for k, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
            text = "".join(cell["source"])
            printed, shown = "", None
            if cell["cell_type"] == "code":
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    shown = value(text, names, f"cell {k} of {path.name}")
                printed = out.getvalue()
            yield cell["cell_type"], text, printed, shown


def value(text: str, names: dict[str, Any], where: str) -> Any:
    """Runs a cell; the value of its last line, unless that is no expression or ends in ;."""
    body = ast.parse(text, where).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), where, "exec"), names)
    if last is None:
        return None
    found = eval(compile(ast.Expression(last.value), where, "eval"), names)
    return None if text.rstrip().endswith(";") else found


def displayed(shown: Any) -> str:
    """HTML of a value: its own, a figure's picture, or what it prints as."""
    if hasattr(shown, "savefig"):
        picture = io.BytesIO()
        shown.savefig(picture, format="png", dpi=DOTS)
        data = base64.b64encode(picture.getvalue()).decode()
        source = f"data:image/png;base64,{data}"
        return f'<img class="shown" alt="what the cell above draws" src="{source}">'
    if hasattr(shown, "_repr_html_"):
        return f'<div class="shown">{shown._repr_html_()}</div>'
    return f'<div class="highlight"><pre>{html.escape(repr(shown))}</pre></div>'
