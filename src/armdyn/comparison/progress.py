"""How a comparison tells how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from armdyn.errors import MethodError, shorten
from armdyn.output.report import progress as bars

Progress = Callable[[str, int, int], None]  # what is being done, steps done, steps in all


@contextmanager
def told(progress: Progress | bool | None, name: str) -> Iterator[Progress | None]:
    """Who is told: the one that was given, a bar on the terminal for True, nobody otherwise."""
    if callable(progress):
        yield progress
    elif progress is True:
        with bars() as bar:
            task = bar.add_task(name)
            yield lambda what, done, total: bar.update(
                task, description=what, completed=done, total=total
            )
    elif progress is None or progress is False:
        yield None
    else:
        raise MethodError(f"progress is {shorten(progress)}; expected True or a function")
