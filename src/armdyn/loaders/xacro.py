"""Macros of xacro, expanded to a URDF by the package of that name."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from armdyn.chain import Chain
from armdyn.errors import ModelError, cut, shorten, unknown
from armdyn.forks import importing
from armdyn.loaders import urdf
from armdyn.loaders.packages import Given, Packages, missing

LOCK = threading.Lock()  # xacro keeps what it works on in globals
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=LOCK._at_fork_reinit)  # type: ignore[attr-defined]
WAY_OUT = "; where ROS is: ros2 run xacro xacro FILE name:=value > arm.urdf"


def load(
    path: Path,
    *,
    arguments: Mapping[str, Any] | None,
    packages: Given | None,
    **options: Any,
) -> Chain:
    """A chain from a file of macros.

    Args:
        path: of the file.
        arguments: of the macros, for ``$(arg NAME)``.
        packages: folders of packages, for ``$(find NAME)``.
        options: those of ``armdyn.loaders.urdf.load``.
    """
    return urdf.load(expanded(path, _Arguments(arguments), packages), **options)


class _Arguments(dict[str, str]):
    """Arguments by name, as text; remembers which a file asked for."""

    def __init__(self, given: Mapping[str, Any] | None) -> None:
        if not isinstance(given, Mapping | None):
            raise ModelError(f"xacro is a mapping from arguments to values, not {shorten(given)}")
        super().__init__()
        for name, value in (given or {}).items():
            if not isinstance(name, str) or not isinstance(value, str | int | float):
                what = f"{shorten(name)}: {shorten(value)}"
                raise ModelError(f"xacro: {what} is no argument; expected text, a number or a bool")
            self[name] = str(value).lower() if isinstance(value, bool) else str(value)
        self.given = set(self)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)

    @property
    def missing(self) -> list[str]:
        """What was asked for and is not there."""
        return [name for name in self.asked if name not in self.keys()]  # noqa: SIM118


def expanded(path: Path, arguments: _Arguments, given: Given | None) -> str:
    """The URDF that a file of macros, and those it includes, expand to."""
    try:
        with importing:
            import xacro
    except ImportError:
        raise ModelError(
            "its macros are expanded by xacro, which is not installed; try pip install "
            "'armdyn[xacro]'"
        ) from None
    known = Packages(path.parent, given)
    lost: list[str] = []

    def find(name: str) -> str:
        folder = known.find(name)
        if folder is None:
            lost.append(name)
            raise ModelError(missing(name))
        return str(folder)

    try:
        with _finding(find):
            document = xacro.process_file(str(path), mappings=arguments)
    except Exception as error:  # whatever a macro raises
        if lost:
            raise ModelError(missing(lost[0]) + WAY_OUT) from None
        if arguments.missing:
            name = shorten(arguments.missing[0])
            raise ModelError(
                f"its argument {name} has no default; xacro={{{name}: value}} gives one"
            ) from None
        raise ModelError(f"xacro cannot expand it: {cut(' '.join(str(error).split()))}") from None
    for name in arguments.given - arguments.asked:
        raise ModelError(f"xacro: {unknown('argument', name, sorted(arguments.asked))}")
    if not document.getElementsByTagName("link"):
        raise ModelError("it defines macros only, and no link; load the file that calls them")
    return str(document.toxml())


@contextmanager
def _finding(find: Callable[[str], str]) -> Iterator[None]:
    """Let xacro resolve ``$(find NAME)`` by a function, and nobody else use it meanwhile."""
    with importing:
        from xacro import substitution_args as resolver

    with LOCK:
        own = resolver._eval_find
        resolver._eval_find = resolver._eval_dict["find"] = find
        try:
            yield
        finally:
            resolver._eval_find = resolver._eval_dict["find"] = own
