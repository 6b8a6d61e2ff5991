"""What armdyn tells its user: errors, each of what was found and what would be right; the log."""

import operator
from collections.abc import Iterable
from typing import Any

LONGEST = 80  # characters of a value in a message
MOST = 40  # names in a list in a message


def shorten(value: object) -> str:
    """A value as a message shows it: never a page of it."""
    try:
        text = " ".join(line.strip() for line in repr(value).splitlines())
    except ValueError:
        return "an integer of more digits than Python prints"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 10]} ... {text[-5:]}"


def cut(name: str) -> str:
    """A name as a message shows it: no longer than a person reads."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 4]} ..."


def listed(names: Iterable[str]) -> str:
    """Names as a message lists them: each cut short, and not more than a person reads."""
    shown = [cut(name) for name in names]
    more = [f"and {len(shown) - MOST} more"] if len(shown) > MOST else []
    return ", ".join(shown[:MOST] + more)


def unknown(what: str, name: object, known: Iterable[str], where: str = "") -> str:
    """That there is no such thing (there), which was perhaps meant, and all that are known."""
    return f"no {what} {shorten(name)}{where}; {instead(name, known)}"


def instead(name: object, known: Iterable[str]) -> str:
    """The name that was perhaps meant, and all that are known."""
    names = list(known)
    return f"{meant(name, names)}known: {listed(names)}"


def meant(name: object, known: Iterable[str]) -> str:
    """The question whether a known name was meant; empty if none is near."""
    from difflib import get_close_matches  # which only a slip needs

    near = get_close_matches(name, list(known), 1) if isinstance(name, str) else []
    return f"did you mean {shorten(near[0])}? " if near else ""


def warn(text: str, *values: object) -> None:
    """Write a line in the log "armdyn": the text, with the values where it has a place for them."""
    import logging  # seldom needed, and slow to import

    logging.getLogger("armdyn").warning(text, *values, stacklevel=2)


class ArmdynError(Exception):
    """Base class of every error that armdyn raises on purpose."""


class ModelError(ArmdynError, ValueError):
    """A robot description that cannot be read, or that no physical arm could have."""


class ShapeError(ArmdynError, ValueError):
    """An array argument of the wrong shape or kind."""


class MethodError(ArmdynError, ValueError):
    """A quantity or method that does not exist, or does not apply to this arm."""


class TraceError(ArmdynError):
    """An algorithm did something that cannot be recorded as a program."""


class ExportError(ArmdynError):
    """Something that cannot be exported, or not to where it was asked to go."""


class SimulationError(ArmdynError, ValueError):
    """A simulation that cannot be run as asked, or that broke off.

    Attributes:
        result: what was computed until it broke off; None if it never began.
    """

    result: Any = None


def whole_number(name: str, value: Any, error: type[ArmdynError], least: int = 1) -> int:
    """The value, if it is a whole number of at least ``least``; else that error, which says so."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < least:
        found = shorten(value)
        raise error(f"{name} is {found}; expected a whole number of at least {least}")
    return number
