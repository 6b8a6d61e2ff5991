"""Rows of C-order arrays in and out of vectors with a state in each lane, as LLVM text.

A block of states lies in memory state by state; a vector holds one number of every state. Squares
of ``lanes`` numbers of ``lanes`` states, or halves of them, are turned in registers by butterflies
of shuffles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from armdyn.program.sincos import Format

Emit = Callable[[str], str]


def turn(emit: Emit, square: Sequence[str], form: Format, lanes: int = 0) -> list[str]:
    """The transpose of a square of vectors: within quarters of 128 bits, then quarter by quarter.

    Both are instructions of their own on most processors, without a vector of places to look up.
    There may be half as many vectors as ``lanes``, where each holds the rows of two states: see
    ``pairs``.
    """
    lanes = lanes or len(square)
    size = min(128 // form.bits, lanes)  # of a quarter
    quarters = range(0, lanes, size)

    def shuffled(a: str, b: str, picks: Iterable[int]) -> str:
        return shuffle(emit, f"<{lanes} x {form.scalar}>", a, b, picks)

    def unpacked(a: str, b: str, piece: int, high: int) -> str:
        """Of each quarter the lower or the higher half, a piece of a, one of b, and so on."""
        pieces = range(high * size // 2, (high + 1) * size // 2, piece)
        turns = [k + other for k in pieces for other in (0, lanes)]
        return shuffled(a, b, [q + k + i for q in quarters for k in turns for i in range(piece)])

    def within(rows: Sequence[str]) -> list[str]:
        """Each quarter turned, for as many rows as it has numbers."""
        half = len(rows) // 2
        if not half:
            return list(rows)
        pairs = list(zip(within(rows[:half]), within(rows[half:]), strict=True))
        return [unpacked(a, b, half, high) for a, b in pairs for high in (0, 1)]

    def across(rows: Sequence[str]) -> list[str]:
        """The quarters turned, each of them as if it were one number."""
        if len(rows) == 1:
            return list(rows)
        found = []
        for odd in (0, 1):
            picks = [q + k for q in quarters[odd::2] for k in range(size)]
            picks += [lanes + pick for pick in picks]
            pairs = zip(rows[::2], rows[1::2], strict=True)
            found.append(across([shuffled(a, b, picks) for a, b in pairs]))
        return [row for pair in zip(*found, strict=True) for row in pair]

    groups = [within(square[q : q + size]) for q in range(0, len(square), size)]
    columns = [across(column) for column in zip(*groups, strict=True)]
    return [column[q] for q in range(len(groups)) for column in columns]


def fill_half(width: int, form: Format, lanes: int) -> bool:
    """Whether rows fill more than a quarter of a vector, and no more than half of it."""
    return lanes // 4 < width <= lanes // 2 and 128 // form.bits <= lanes // 2


def pairs(lanes: int, form: Format) -> list[tuple[int, int]]:
    """The two states whose rows of half a vector lie in one, for each of the vectors to turn."""
    size = 128 // form.bits
    return [(g + r, g + r + size) for g in range(0, lanes, 2 * size) for r in range(size)]


def starts(width: int, length: int) -> list[int]:
    """Where pieces of a row begin, of so many numbers each; the last may overlap the one before."""
    return sorted({*range(0, width - length + 1, length), width - length})


def store_starts(width: int, lanes: int) -> list[int]:
    """Where stores of a row begin: squares, but a single number left over goes alone."""
    alone = width < lanes or width % lanes == 1
    return list(range(0, width, lanes)) if alone else starts(width, lanes)


def load_starts(width: int, form: Format, lanes: int) -> list[int]:
    """Where loads of a row begin; the last may overlap."""
    length = loaded_together(width, form, lanes)
    return starts(width, length) if width > length else [0]


def loaded_together(width: int, form: Format, lanes: int) -> int:
    """The numbers of a row that are loaded together: half a vector, or all that a vector holds.

    The latter where rows fill at most a quarter of it, or where it has 128 bits.
    """
    half = lanes // 4 < width and 128 // form.bits <= lanes // 2
    return lanes // 2 if half else lanes


def load(emit: Emit, pointer: str, width: int, start: int, form: Format, lanes: int) -> list[str]:
    """Numbers of a row from one of ``load_starts`` on, each a vector over the states of a block.

    Two states' halves are joined into a vector as they are loaded, which spares a third of the
    shuffles.
    """
    length = loaded_together(width, form, lanes)
    last = lanes * width - length
    places = [lane * width + start for lane in range(lanes)]
    rows = [_loaded(emit, pointer, place, last, length, form) for place in places]
    if length < lanes:
        part = f"<{length} x {form.scalar}>"
        halves = [(rows[a], rows[b]) for a, b in pairs(lanes, form)]
        rows = [shuffle(emit, part, a, b, range(lanes)) for a, b in halves]
    return turn(emit, rows, form, lanes)[: min(length, width)]


def _loaded(emit: Emit, pointer: str, place: int, last: int, length: int, form: Format) -> str:
    """Numbers from a place on; where that is beyond ``last``, the last number is repeated."""
    part, begin = f"<{length} x {form.scalar}>", min(place, last)
    row = emit(f"load {part}, ptr {at(emit, pointer, begin, form)}, align {form.bits // 8}")
    if begin == place:
        return row
    return shuffle(
        emit, part, row, "poison", [min(place - begin + i, length - 1) for i in range(length)]
    )


def shuffle(emit: Emit, real: str, a: str, b: str, picks: Iterable[int]) -> str:
    """The numbers of two vectors at some places, those of b counted behind those of a."""
    places = [f"i32 {pick}" for pick in picks]
    mask = f"<{len(places)} x i32> <{', '.join(places)}>"
    return emit(f"shufflevector {real} {a}, {real} {b}, {mask}")


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
    half = len(values) == width and fill_half(width, form, lanes)
    whole = len(values) == lanes or lanes // 2 < len(values) == width
    if not whole and not half:
        for i, value in enumerate(values):
            for lane in range(lanes):
                number = emit(f"extractelement {real} {value}, i32 {lane}")
                place = at(emit, pointer, lane * width + start + i, form)
                do(f"store {form.scalar} {number}, ptr {place}, align {align}")
        return
    unknown = ["poison"] * (lanes - len(values))
    length = lanes // 2 if half else lanes
    part = f"<{length} x {form.scalar}>"
    for lane, row in enumerate(turn(emit, [*values, *unknown], form)):
        first = lane * width + start
        if unknown and first + length > lanes * width:
            _store_in_pieces(emit, do, pointer, first, row, len(values), form, lanes)
            continue
        if half:
            places = ", ".join(f"i32 {i}" for i in range(length))
            row = emit(f"shufflevector {real} {row}, {real} poison, <{length} x i32> <{places}>")
        # What is unknown falls on the next row, which is stored later.
        do(f"store {part} {row}, ptr {at(emit, pointer, first, form)}, align {align}")


def _store_in_pieces(
    emit: Emit,
    do: Callable[[str], None],
    pointer: str,
    first: int,
    row: str,
    count: int,
    form: Format,
    lanes: int,
) -> None:
    """Store the first ``count`` numbers of a vector and nothing beyond: 7 as 4, 2 and 1."""
    done = 0
    while done < count:
        size = 1 << ((count - done).bit_length() - 1)
        piece = f"<{size} x {form.scalar}>"
        places = ", ".join(f"i32 {done + i}" for i in range(size))
        source = f"<{lanes} x {form.scalar}> {row}, <{lanes} x {form.scalar}> poison"
        part = emit(f"shufflevector {source}, <{size} x i32> <{places}>")
        place = at(emit, pointer, first + done, form)
        do(f"store {piece} {part}, ptr {place}, align {form.bits // 8}")
        done += size


def at(emit: Emit, pointer: str, index: int, form: Format) -> str:
    """The address of the number at a constant index."""
    return emit(f"getelementptr {form.scalar}, ptr {pointer}, i64 {index}") if index else pointer
