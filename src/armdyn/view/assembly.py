"""The page put together: the template, its style, its scripts, and the data of one arm.

Nothing on it comes from elsewhere, and a content security policy keeps it so: the browser runs the
scripts whose hashes stand in the page's head, and loads nothing. Names of an arm, its joints and
its links reach the page as data only, which scripts write as text.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from functools import cache
from html import escape
from importlib import resources
from typing import TYPE_CHECKING, Any

from armdyn.chain import Chain
from armdyn.errors import ArmdynError, cut, shorten
from armdyn.view.drawing import drawing
from armdyn.view.motion import motion
from armdyn.view.programs import programs
from armdyn.view.visuals import visuals

if TYPE_CHECKING:
    from armdyn.simulation.results import Result

LIMIT = 2_000_000  # of a page [byte]
MODULES = (  # one script, in this order: what a module imports stands before it
    "kinematics",
    "dynamics",
    "simulate",
    "shapes",
    "arm",
    "stage",
    "plots",
    "joints",
    "posture",
    "torques",
    "formulations",
    "playback",
    "hand",
    "main",
)
IMPORT = re.compile(r"^import\b[^;]*;\n", re.M)
PLACE = re.compile(r"\{\{(\w+)\}\}")


def page(chain: Chain, result: Result | None, state: int) -> tuple[str, str, list[str]]:
    """The title of an arm's page, its text, and notes on what could not be drawn."""
    written, looks = programs(chain), visuals(chain)
    arm = drawing(chain) | {"methods": written.methods, "shapes": looks.shapes, "bare": looks.bare}
    arm["notes"] += looks.notes
    if result is not None:
        arm["motion"] = motion(result, state)
    title = cut(chain.name)
    scripts = {"three": _three(), "programs": written.script, "page": _modules()}
    style = _style()
    parts = {
        **scripts,
        "style": style,
        "title": _plain(title),
        "data": _json(arm),
        "policy": _policy([*scripts.values()], style),
    }
    text = PLACE.sub(lambda found: parts[found[1]], _asset("page.html"))
    if len(text) > LIMIT:
        raise ArmdynError(
            f"the page of {shorten(chain.name)} would have {len(text)} bytes, of which its "
            f"programs take {len(written.script)}; expected at most {LIMIT}"
        )
    return title, text, looks.notes


@cache
def _asset(name: str) -> str:
    """A file of the page; only a licence's sign of copyright is not ASCII."""
    text = (resources.files("armdyn.view") / "assets" / name).read_text(encoding="utf-8")
    return text.replace("\u00a9", "(c)")


@cache
def _style() -> str:
    """The style that all pages share, and this page's own."""
    shared = (resources.files("armdyn.output") / "style.css").read_text(encoding="utf-8")
    return shared + _asset("page.css")


@cache
def _modules() -> str:
    """Our own modules as one: all names at their top level differ, so none needs an import."""
    texts = [IMPORT.sub("", _asset(f"{name}.js")) for name in MODULES]
    return '"use strict";\n' + re.sub(r"^export ", "", "\n".join(texts), flags=re.M)


@cache
def _three() -> str:
    return f"/*! three.js\n{_asset('three.LICENSE')}*/\n{_asset('three.js')}"


def _policy(scripts: list[str], style: str) -> str:
    """What a browser may do with the page: run these scripts, use this style, and no more."""
    allowed = " ".join(map(_hash, scripts))
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(style)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(f"\n{text}\n".encode("ascii")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"


def _plain(text: str) -> str:
    """Text between tags: whatever its letters are, in ASCII."""
    return escape(text).encode("ascii", "xmlcharrefreplace").decode("ascii")


def _json(data: dict[str, Any]) -> str:
    """Data that can end neither the script element it stands in, nor begin a comment there."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
