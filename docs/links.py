"""Looks at the site that was built: its links lead somewhere, and it asks no other host."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sphinx.util import logging

log = logging.getLogger(__name__)
LINK = re.compile(r'<(\w+)[^>]*?\s(href|src)="([^"]*)"')
ANCHOR = re.compile(r'\s(?:id|name)="([^"]+)"')
INSIDE = re.compile(r"(<(script|style)\b[^>]*>).*?</\2>", re.S)  # of what is no HTML


def setup(app: Any) -> dict[str, Any]:
    """Joins Sphinx: a link that leads nowhere is a warning, and with ``-W`` an error."""
    app.connect("build-finished", check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def check(app: Any, error: Exception | None) -> None:
    """Warn of what is wrong with the pages."""
    if error is None and app.builder.format == "html":
        for complaint in complaints(Path(app.outdir)):
            log.warning(complaint)


def complaints(site: Path) -> list[str]:
    """What is wrong with the links of the pages of a folder."""
    pages = sorted(site.rglob("*.html"))
    texts = {page: INSIDE.sub(r"\1", page.read_text(encoding="utf-8")) for page in pages}
    anchors = {page: {unescape(a) for a in ANCHOR.findall(text)} for page, text in texts.items()}
    found = []
    for page, text in texts.items():
        if page.is_relative_to(site / "_modules"):
            continue  # source, whose links back Sphinx makes by names of its own
        for tag, _, link in set(LINK.findall(text)):
            why = wrong(page, tag, urlsplit(unescape(link)), anchors)
            if why:
                found.append(f"{page.relative_to(site)}: {link} {why}")
    return sorted(found)


def wrong(page: Path, tag: str, link: Any, anchors: dict[Path, set[str]]) -> str:
    """Why a link is, if it is."""
    if link.scheme in ("data", "mailto"):
        return ""
    if link.netloc:
        return "" if tag == "a" else "is loaded from another host"
    target = (page.parent / unquote(link.path)).resolve() if link.path else page
    if not target.is_file():
        return "leads nowhere"
    if link.fragment and target in anchors and unquote(link.fragment) not in anchors[target]:
        return "leads to no heading"
    return ""
