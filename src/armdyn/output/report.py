"""What every room shows things with: a console, tables on it, tables in HTML."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import Progress, TextColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from armdyn.errors import printable
from armdyn.output import wide_tables

WIDTH = 100  # columns where nobody says how many,
NARROWEST = 40  # and the fewest that tables are made for


class Screen(Console):
    """Where people read; a name is shown as it is, whatever its letters mean elsewhere."""

    def __init__(self, width: int | None = None) -> None:
        super().__init__(width=width, highlight=False, markup=False, emoji=False)

    def show(self, part: RenderableType, names: int = 1) -> None:
        """Print something; a table too wide for the screen comes in parts.

        ``names`` says how many of its first columns name the rows, and are in each part.
        """
        if not isinstance(part, Table):
            self.print(part)
            return
        for k, piece in enumerate(wide_tables.parts(self, part, names)):
            if k and not piece.show_edge:  # whose lines are empty
                self.print()
            self.print(piece)

    def render_str(self, text: str, **options: Any) -> Text:
        """Text without control characters, before rich measures its width."""
        return super().render_str(printable(text), **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The output of rich, with control characters in names shown as their codes."""
        for segment in super().render(renderable, options):
            text = segment.text if segment.control else printable(segment.text)
            yield segment if text == segment.text else Segment(text, segment.style)

    def on_broken_pipe(self) -> None:
        """Leave it to the caller what a closed pipe means; rich would end the program."""
        raise


def console() -> Screen:
    """Where tables go: as wide as COLUMNS says, else as the terminal is, else 100 columns."""
    told = os.environ.get("COLUMNS", "")
    if told.isdecimal() and len(told) < 5:
        return Screen(max(NARROWEST, int(told)))
    screen = Screen()
    return screen if screen.is_terminal else Screen(WIDTH)


def progress_bar() -> Progress:
    """A bar on stderr, where a person sees it, which is gone when all is done."""
    screen = Console(stderr=True)
    seen = screen.is_terminal or screen.is_jupyter
    columns = TextColumn("{task.description}", markup=False), *Progress.get_default_columns()[1:]
    return Progress(*columns, console=screen, transient=True, disable=not seen)


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
        line = f'<tr style="{style}">' if style else "<tr>"
        lines.append(f"{line}{cells}</tr>")
    return "<table>\n" + "\n".join(lines) + "\n</table>"
