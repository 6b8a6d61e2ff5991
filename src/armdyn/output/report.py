"""What every room shows things with: a console, tables on it, tables in HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from html import escape

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def console() -> Console:
    """Where tables go: the terminal's width, or 100 columns where there is none."""
    screen = Console(highlight=False)
    return screen if screen.is_terminal else Console(highlight=False, width=100)


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


@contextmanager
def progress_bar(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on stderr, where a person sees it; it is told how much is done, and of how much."""
    from rich.progress import Progress  # slow to import

    screen = Console(stderr=True)
    seen = screen.is_terminal or screen.is_jupyter
    with Progress(console=screen, transient=True, disable=not seen) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
