from collections.abc import Callable
from ctypes import Array, c_size_t
from typing import Any

INTERFACE: int

class Function:
    def __init__(
        self,
        path: Callable[..., Any],
        table: Array[c_size_t],
        inputs: int,
        n: int,
        shapes: tuple[tuple[int, ...], ...],
        few: int,
        chosen: dict[str | None, dict[str | bool | None, Any]],
        /,
    ) -> None: ...
    def __call__(self, *values: Any, out: Any = None, threads: int | None = None) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
