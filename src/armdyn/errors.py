"""The errors a user of armdyn can meet: each says what was found and what would be right."""

from typing import Any

LONGEST = 80  # characters of a value in a message


def shorten(value: object) -> str:
    """A value as a message shows it: never a page of it."""
    try:
        text = " ".join(line.strip() for line in repr(value).splitlines())
    except ValueError:
        return "an integer of more digits than Python prints"
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 10]} ... {text[-5:]}"


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
