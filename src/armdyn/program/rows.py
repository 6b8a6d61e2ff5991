"""Rows of C-order arrays in and out of vectors with a state in each lane, as LLVM text.

A block of states lies in memory state by state; a vector holds one number of every state. Squares
of ``lanes`` numbers of ``lanes`` states are turned in registers by butterflies of shuffles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from armdyn.program.sincos import Format

Emit = Callable[[str], str]


def turn(emit: Emit, square: Sequence[str], form: Format) -> list[str]:
    """The transpose of a square of vectors."""
    lanes = len(square)
    real, mask = f"<{lanes} x {form.scalar}>", f"<{lanes} x i32>"
    rows = list(square)
    step = 1
    while step < lanes:
        low = [e if not e & step else lanes + e - step for e in range(lanes)]
        high = [e + step if not e & step else lanes + e for e in range(lanes)]
        for i in range(lanes):
            if not i & step:
                a, b = rows[i], rows[i | step]
                rows[i], rows[i | step] = (
                    emit(f"shufflevector {real} {a}, {real} {b}, {mask} <{_indices(picks)}>")
                    for picks in (low, high)
                )
        step *= 2
    return rows


def _indices(picks: Iterable[int]) -> str:
    return ", ".join(f"i32 {pick}" for pick in picks)


def starts(width: int, lanes: int) -> list[int]:
    """Where squares begin that cover a row of at least ``lanes`` numbers; the last may overlap."""
    return sorted({*range(0, width - lanes + 1, lanes), width - lanes})


def store_starts(width: int, lanes: int) -> list[int]:
    """Where stores of a row begin: squares, but a single number left over goes alone."""
    alone = width < lanes or width % lanes == 1
    return list(range(0, width, lanes)) if alone else starts(width, lanes)


def load(emit: Emit, pointer: str, width: int, form: Format, lanes: int) -> list[str]:
    """The ``width`` numbers of a row, each a vector over the states of a block."""
    real = f"<{lanes} x {form.scalar}>"
    values = [""] * width
    if width < lanes:
        for i in range(width):
            value = "poison"
            for lane in range(lanes):
                place = at(emit, pointer, lane * width + i, form)
                number = emit(f"load {form.scalar}, ptr {place}, align {form.bits // 8}")
                value = emit(f"insertelement {real} {value}, {form.scalar} {number}, i32 {lane}")
            values[i] = value
        return values
    for start in starts(width, lanes):
        places = [at(emit, pointer, lane * width + start, form) for lane in range(lanes)]
        square = [emit(f"load {real}, ptr {place}, align {form.bits // 8}") for place in places]
        values[start : start + lanes] = turn(emit, square, form)
    return values


def store(
    emit: Emit,
    do: Callable[[str], None],
    pointer: str,
    width: int,
    start: int,
    values: Sequence[str],
    form: Format,
    lanes: int,
) -> None:
    """Store numbers of a row of ``width``, from ``start`` on, for all states of a block."""
    real, align = f"<{lanes} x {form.scalar}>", form.bits // 8
    if len(values) < lanes:
        for i, value in enumerate(values):
            for lane in range(lanes):
                number = emit(f"extractelement {real} {value}, i32 {lane}")
                place = at(emit, pointer, lane * width + start + i, form)
                do(f"store {form.scalar} {number}, ptr {place}, align {align}")
        return
    for lane, row in enumerate(turn(emit, values, form)):
        place = at(emit, pointer, lane * width + start, form)
        do(f"store {real} {row}, ptr {place}, align {align}")


def at(emit: Emit, pointer: str, index: int, form: Format) -> str:
    """The address of the number at a constant index."""
    return emit(f"getelementptr {form.scalar}, ptr {pointer}, i64 {index}") if index else pointer
