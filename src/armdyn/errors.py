"""What armdyn tells its user: errors, each of what was found and what would be right; the log."""

import operator
from collections.abc import Iterable
from typing import Any

from armdyn.forks import importing

LONGEST = 80  # characters of a value in a message
MOST = 40  # names in a list in a message
ACCEPTED = 'check="warn" accepts it'  # of an error that it makes a note


def shorten(value: object) -> str:
    """A value as a message shows it: never a page of it."""
    try:
        return cut(repr(value))
    except ValueError:
        return "an integer of more digits than Python prints"
    except Exception:  # whatever its own repr raises
        return f"a {type(value).__name__}"


def cut(text: str, longest: int = LONGEST) -> str:
    """Text on one line, its middle left out if it is long; what does not print, as its code."""
    line = " ".join(filter(None, map(str.strip, text.splitlines())))
    if len(line) > 2 * longest:  # no need to look at all of a book
        line = line[:longest] + line[-longest:]
    shown = printable(line)
    if len(shown) <= longest:
        return shown
    end = (longest - 5) // 3
    return f"{shown[: longest - 5 - end]} ... {shown[-end:]}"


def printable(text: str) -> str:
    """Text with all control characters but newlines shown as their codes."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == "\n" else ascii(c)[1:-1] for c in text)


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
    """The question whether a known name was meant, in letters of whatever case; empty if none."""
    with importing:
        from difflib import get_close_matches  # which only a slip needs

    if not isinstance(name, str) or len(name) > LONGEST:  # to compare is work of length squared
        return ""
    typed, small = name.lower(), {one.lower(): one for one in known if len(one) <= LONGEST}
    near = get_close_matches(typed, list(small), 1)
    begun = [one for one in small if len(typed) > 1 and one.startswith(typed)]
    return "".join(f"did you mean {shorten(small[one])}? " for one in (near or begun)[:1])


def warn(text: str, *values: object) -> None:
    """Write a line in the log "armdyn": the text, with the values where it has a place for them."""
    with importing:
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


class DeviceError(ArmdynError):
    """A GPU that is not there, cannot be used here, or no longer answers."""


class SimulationError(ArmdynError, ValueError):
    """A simulation that cannot be run as asked, or that broke off.

    Attributes:
        result: what was computed until it broke off; None if it never began.
    """

    result: Any = None


class IdentificationError(ArmdynError, ValueError):
    """A log that cannot be read or used, or an identification that cannot be done as asked."""


def as_names(what: str, given: Any) -> list[str]:
    """One name or several, as a list; else a MethodError, which says so."""
    if isinstance(given, str):
        return [given]
    try:
        found = list(given)
    except Exception:  # whatever going through it raises
        found = [None]
    if not all(isinstance(name, str) for name in found):
        raise MethodError(f"{what} are names, not {shorten(given)}")
    return found


def whole(value: Any) -> int | None:
    """The whole number that something is, Python's or NumPy's; None if it is none, as True."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except Exception:  # whatever a user's own class raises
        return None


def whole_number(name: str, value: Any, error: type[ArmdynError], least: int = 1) -> int:
    """The value, if it is a whole number of at least ``least``; else that error, which says so."""
    number = whole(value)
    if number is None or number < least:
        found = shorten(value)
        raise error(f"{name} is {found}; expected a whole number of at least {least}")
    return number
