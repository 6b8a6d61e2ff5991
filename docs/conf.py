"""The documentation as a site: ``sphinx-build -W docs build/docs``."""

import re
import sys
from pathlib import Path
from typing import Any

import armdyn

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # for the extensions, which are beside this file

project = "armdyn"
author = "The armdyn authors"
release = version = armdyn.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
extensions += [f"docs.{name}" for name in ("mathml", "measured", "gallery", "notebooks", "links")]
myst_enable_extensions = ["dollarmath"]
myst_heading_anchors = 3
myst_enable_extensions = ["dollarmath"]

smartquotes = False

html_theme = "furo"
html_title = f"armdyn {release}"
html_math_renderer = "mathml"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style, pygments_dark_style = "friendly", "monokai"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Client", "Reference")}


def setup(app: Any) -> None:
    """Shows aliases of types by their names in unions too, and pages of the repository's root."""
    app.connect("autodoc-process-signature", named)
    app.connect("source-read", from_root)


def named(*event: Any) -> tuple[str | None, ...]:
    """Signature and returned type of an event, without Sphinx's wrapper around aliases."""
    wrapped = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
    return tuple(text and wrapped.sub(r"\1", text) for text in event[-2:])


def from_root(app: Any, document: str, source: list[str]) -> None:
    """Fills pages that are files of the root: what was a link there leads to the same place."""
    path = ROOT / f"{document.upper()}.md"
    if document in ("contributing", "changelog"):
        app.env.note_dependency(str(path), docname=document)
        text = path.read_text(encoding="utf-8")
        source[0] = re.sub(r"\]\((?!https?:|#)", "](../", text).replace("](../docs/", "](")
