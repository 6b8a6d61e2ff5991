"""What every room shows things with: a console, tables on it, tables in HTML."""

from __future__ import annotations

import os
from collections.abc import Sequence
from html import escape

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 100  # columns where nobody says how many


class Screen(Console):
    """A console that leaves it to the caller what a closed pipe means."""

    def on_broken_pipe(self) -> None:
        """Raise what rich would end the program for."""
        raise


def console() -> Screen:
    """Where tables go: as wide as COLUMNS says, else as the terminal is, else 100 columns."""
    screen = Screen(highlight=False)
    told = os.environ.get("COLUMNS", "").isdecimal()
    return screen if screen.is_terminal or told else Screen(highlight=False, width=WIDTH)


def table(title: str, *columns: str) -> Table:
    """A table; a column whose heading starts with ``>`` is set to the right."""
    heading = Text(title, style="bold")  # plain text: [m] is a unit, not a style
    made = Table(title=heading, title_justify="left", box=box.SIMPLE_HEAD)
    for column in columns:
        right = column.startswith(">")
        made.add_column(Text(column.removeprefix(">")), justify="right" if right else "left")
    return made


def html_table(
    headings: Sequence[str],
    rows: Sequence[Sequence[str]],
    words: int = 1,
    styles: Sequence[str] = (),
) -> str:
    """Plain text under headings; the first ``words`` columns are set to the left.

    ``styles`` are CSS, one a row.
    """
    lines = ["<tr>" + "".join(f"<th>{escape(heading)}</th>" for heading in headings) + "</tr>"]
    for row, style in zip(rows, styles or [""] * len(rows), strict=True):
        sides = ["left" if k < words else "right" for k in range(len(row))]
        pairs = zip(sides, map(escape, row), strict=True)
        cells = "".join(f'<td style="text-align:{side}">{cell}</td>' for side, cell in pairs)
        lines.append(f'<tr style="{style}">{cells}</tr>')
    return "<table>\n" + "\n".join(lines) + "\n</table>"
