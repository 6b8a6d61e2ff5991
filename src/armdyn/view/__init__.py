"""Arms to look at: the stick figure in ``figure``, and the page, one HTML file without a server.

``view`` makes a ``Page`` of an arm, or of a simulated motion. The page computes the arm's dynamics
by itself, by programs that armdyn writes into it.
"""

from __future__ import annotations

import webbrowser
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from armdyn.errors import ArmdynError, shorten
from armdyn.output import files
from armdyn.view import assembly

if TYPE_CHECKING:
    from armdyn.robot import Robot
    from armdyn.simulation.results import Result

HEIGHT = 680  # in a notebook [pixel]


@dataclass(frozen=True)
class Page:
    """A page to be looked at: saved, opened in a browser, or shown by a notebook.

    Attributes:
        title: what it shows.
        text: the page, whole in one file of HTML.
        notes: what could not be drawn as the arm's description has it.
    """

    title: str
    text: str = field(repr=False)
    notes: tuple[str, ...] = ()

    def save(self, path: str | Path) -> None:
        """Write it to a file, whose name ends in .html."""
        check_path(path)
        with files.written(path) as place:
            place.write_text(self.text, encoding="ascii", newline="\n")

    def open(self, path: str | Path) -> bool:
        """Write it to a file and open that in a browser; whether there is one."""
        self.save(path)
        return webbrowser.open(Path(path).resolve().as_uri())

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.text)}" title="{escape(self.title)}" '
            f'sandbox="allow-scripts" width="100%" height="{HEIGHT}" frameborder="0"></iframe>'
        )


def view(robot: Robot, motion: Result | None = None, state: int = 0) -> Page:
    """A page with an arm, which can be moved, dragged and simulated.

    Args:
        robot: the arm.
        motion: a simulated motion of it, to be played.
        state: which of a batch of motions, counted in C order.

    Raises:
        ArmdynError: for an arm whose programs do not fit on a page.
    """
    title, text, notes = assembly.page(robot.chain, motion, state)
    return Page(title, text, tuple(notes))


def check_path(path: str | Path) -> None:
    """Refuse a file that a page could not be written to."""
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise ArmdynError(f"cannot save to {shorten(str(path))}; expected a name in .html")
    files.check_writable(path)
