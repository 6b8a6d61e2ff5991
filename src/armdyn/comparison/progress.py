"""How a comparison tells how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import Progress as Bars

from armdyn.errors import MethodError, shorten

Progress = Callable[[str, int, int], None]  # what is being done, steps done, steps in all


@contextmanager
def told(progress: Progress | bool | None, name: str) -> Iterator[Progress | None]:
    """Who is told: the one that was given, a bar on the terminal for True, nobody otherwise."""
    if callable(progress):
        yield progress
    elif progress is True:
        with Bars(console=Console(stderr=True), transient=True) as bars:
            bar = bars.add_task(name)

            def show(what: str, done: int, total: int) -> None:
                bars.update(bar, description=what, completed=done, total=total)

            yield show
    elif progress is None or progress is False:
        yield None
    else:
        raise MethodError(f"progress is {shorten(progress)}; expected True or a function")
