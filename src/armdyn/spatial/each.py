"""The same function of every joint, link or body, on any scalar."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import singledispatch
from typing import Any

from armdyn.spatial import Scalar, Symmetric, Vector
from armdyn.spatial.matrices import kind

Function = Callable[..., Any]
Item = tuple[Any, ...]  # what the function takes: scalars, vectors, tensors, tuples of these


def each(function: Function, *sequences: Sequence[Any]) -> list[Any]:
    """What ``map`` gives: the function of the first items of the sequences, of the second ones, ...

    It takes and returns scalars, vectors, tensors, or tuples of these, and uses no other numbers
    that are not constant. A kind of scalar that has a shorter way joins by ``repeated.register``.
    """
    items = list(zip(*sequences, strict=True))
    return repeated(kind(x for item in items for x in scalars(item)), function, items)


@singledispatch
def repeated(kind: Scalar, function: Function, items: Sequence[Item]) -> list[Any]:
    """``each`` on scalars of a kind."""
    return [function(*item) for item in items]


def scalars(thing: Any) -> Iterator[Scalar]:
    """All scalars in a thing, in order."""
    if isinstance(thing, (tuple, Vector, Symmetric)):
        for part in thing:
            yield from scalars(part)
    else:
        yield thing


def like(thing: Any, numbers: Iterator[Scalar]) -> Any:
    """A thing of the same structure, made of the next scalars."""
    if not isinstance(thing, (tuple, Vector, Symmetric)):
        return next(numbers)
    parts = [like(part, numbers) for part in thing]
    return tuple(parts) if type(thing) is tuple else type(thing)(*parts)
