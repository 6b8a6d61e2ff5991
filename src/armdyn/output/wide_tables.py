"""Wide tables on narrow screens: shown in parts, so that no number is broken or cut."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from itertools import takewhile

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Column, Table

SENTENCE = 36  # characters; a longer cell may go on in the next line
UNLIMITED = 10_000  # columns


def parts(screen: Console, whole: Table, names: int) -> Iterator[Table]:
    """The table if it fits, else tables of some of its columns each.

    The first ``names`` columns, and any others without headings before the first that has one,
    name the rows: they are in each part.
    """
    unheaded = takewhile(lambda column: str(column.header) == "", whole.columns)
    names = max(names, len(list(unheaded)))
    if _measure(screen, whole).maximum <= screen.width or len(whole.columns) <= names:
        yield whole
        return
    named, rest = range(names), range(names, len(whole.columns))
    widths = [_narrowest(screen, column, k in named) for k, column in enumerate(whole.columns)]
    title = whole.title
    while rest:
        taken = 1
        while taken < len(rest) and _room(screen, whole, widths, [*named, *rest[: taken + 1]]) >= 0:
            taken += 1
        part = _part(whole, _spread(screen, whole, widths, [*named, *rest[:taken]]))
        part.title, title = title, None
        yield part
        rest = rest[taken:]


def _narrowest(screen: Console, column: Column, naming: bool) -> int:
    """How narrow a column may be with all words and numbers whole."""
    cells = [_measure(screen, cell) for cell in column.cells]
    least = [cell.minimum if naming or cell.maximum > SENTENCE else cell.maximum for cell in cells]
    return max([_measure(screen, column.header).minimum, *least])


def _spread(
    screen: Console, whole: Table, widths: Sequence[int], chosen: Sequence[int]
) -> dict[int, int]:
    """The widths of these columns, with the room that is left given to the first that need it."""
    room = _room(screen, whole, widths, chosen)
    found = {}
    for k in chosen:
        column = whole.columns[k]
        widest = max(_measure(screen, cell).maximum for cell in (column.header, *column.cells))
        found[k] = min(widest, max(1, widths[k] + room))  # without room, names are broken
        room -= found[k] - widths[k]
    return found


def _room(screen: Console, whole: Table, widths: Sequence[int], chosen: Sequence[int]) -> int:
    """How many columns of the screen a table of these columns would leave."""
    part = _part(whole, {k: widths[k] for k in chosen})
    return screen.width - _measure(screen, part).maximum


def _part(whole: Table, widths: Mapping[int, int]) -> Table:
    """The table of these columns, so wide."""
    part = copy(whole)
    part.columns, part.rows = [], []
    chosen = [(whole.columns[k], width) for k, width in widths.items()]
    for column, width in chosen:
        part.add_column(column.header, justify=column.justify, width=width, overflow="fold")
    for line in zip(*(column.cells for column, _ in chosen), strict=True):
        part.add_row(*line)
    return part


def _measure(screen: Console, shown: RenderableType) -> Measurement:
    return Measurement.get(screen, screen.options.update(max_width=UNLIMITED), shown)
