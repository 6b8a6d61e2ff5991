"""What a scalar without a value must refuse."""

from __future__ import annotations

from typing import Any, NoReturn

from armdyn.errors import TraceError


class Unbranchable:
    """A scalar that has no value yet, so that no algorithm can branch on it."""

    __slots__ = ()
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __bool__(self) -> NoReturn:
        raise TraceError(
            "an algorithm branched on a traced number. It is recorded once and replayed for every "
            "q, so branch on the arm's structure instead, or use select_lt(a, b, x, y)."
        )

    def _compare(self, other: Any) -> NoReturn:
        self.__bool__()

    __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compare  # type: ignore[assignment]

    def _convert(self) -> NoReturn:
        raise TraceError(
            "an algorithm asked a traced number for its value (float(x), math.sin(x), ...). It has "
            "none until the program runs; use armdyn.spatial.sincos and plain arithmetic."
        )

    __float__ = __int__ = __complex__ = __index__ = _convert
