"""The documentation as a site: ``sphinx-build -W docs build/docs``."""

import re
from typing import Any

import armdyn

project = "armdyn"
author = "The armdyn authors"
release = version = armdyn.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.viewcode"]
myst_heading_anchors = 3

smartquotes = False

html_theme = "furo"
html_title = f"armdyn {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
pygments_style, pygments_dark_style = "friendly", "monokai"

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Client", "Reference")}


def setup(app: Any) -> None:
    """Shows aliases of types by their names in unions too."""
    app.connect("autodoc-process-signature", named)


def named(*event: Any) -> tuple[str | None, ...]:
    """Signature and returned type of an event, without Sphinx's wrapper around aliases."""
    wrapped = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")
    return tuple(text and wrapped.sub(r"\1", text) for text in event[-2:])
