"""How a long computation tells how far it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from armdyn.errors import ArmdynError, shorten
from armdyn.forks import importing


@contextmanager
def told(
    progress: Any, title: str, news: str, error: type[ArmdynError]
) -> Iterator[Callable[..., object] | None]:
    """Who is told: the function that was given, a bar on stderr for True, or nobody (None).

    A bar is told the steps done and all steps, and before them, if one likes, what is being done.

    Args:
        progress: what the user gave.
        title: what the bar says if nobody says what is being done.
        news: what a function is told, in words.
        error: raised for anything else.
    """
    if progress is True:
        with importing:
            from rich.errors import LiveError

            from armdyn.output.report import progress_bar  # takes longer than a short computation

        bar = progress_bar()
        task = bar.add_task(title, total=None)

        def move(*words: Any) -> None:
            *what, done, total = words
            bar.update(task, description=(*what, title)[0], completed=done, total=total)

        try:
            bar.start()
        except LiveError:  # the user's own bar is shown
            yield None
            return
        try:
            yield move
        finally:
            bar.stop()
    elif progress is None or progress is False or callable(progress):
        yield progress or None
    else:
        raise error(f"progress is {shorten(progress)}; expected True, or a function of {news}")
