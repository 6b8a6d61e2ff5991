"""Writes the table of docs/quantities.md from the one in the code: ``make_quantities.py``."""

from __future__ import annotations

import re
from pathlib import Path

from armdyn.quantities import QUANTITIES, Quantity, Result

PAGE = Path(__file__).parent / "quantities.md"
BEGIN, END = "<!-- Made by docs/make_quantities.py. -->\n", "<!-- So far. -->\n"
HEADING = "| function | gives | results and their shapes |\n|---|---|---|\n"


def page() -> str:
    """The page with its table made anew."""
    text = PAGE.read_text(encoding="utf-8")
    between = f"{re.escape(BEGIN)}.*?{re.escape(END)}"
    return re.sub(between, lambda _: f"{BEGIN}\n{table()}\n{END}", text, flags=re.S)


def table() -> str:
    """A line a quantity."""
    return HEADING + "".join(
        f"| `{name}({signature(quantity)})` | {quantity.sentence.removesuffix('.')} "
        f"| {', '.join(map(shape, quantity.results))} |\n"
        for name, quantity in QUANTITIES.items()
    )


def signature(quantity: Quantity) -> str:
    """Its arguments, and the options that change its value."""
    options = {
        "frame=None": quantity.framed,
        'axes="base"': quantity.axes,
        "friction=False": quantity.friction,
        "wrench=None": quantity.wrench,
    }
    return ", ".join([*quantity.arguments, *(text for text, there in options.items() if there)])


def shape(result: Result) -> str:
    """A result's letter and shape, batch axes first."""
    sizes = ", ".join(result.sizes.split()).replace("10n", "10 n")
    return f"{result.name} (..., {sizes})" if sizes else f"{result.name} (...,)"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
