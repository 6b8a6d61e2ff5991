from collections.abc import Callable, Sequence
from ctypes import Array, c_size_t
from typing import Any

import numpy as np

INTERFACE: int

Turn = tuple[int, int, np.ndarray, np.ndarray]  # kernel, number of inputs, pointers, strides

def march(
    plan: bytes, turns: tuple[Turn, ...], first: int, states: int, most: int, threads: int, /
) -> None: ...
def answer_by(libraries: dict[type, Callable[..., Any]], /) -> None: ...
def exchanged(function: object, api: object, values: Sequence[Any], /) -> Any: ...
def launched(function: object, api: object, values: Sequence[Any], kernel: object, /) -> Any: ...

class Function:
    def __init__(
        self,
        path: Callable[..., Any],
        table: Array[c_size_t],
        arguments: tuple[tuple[int, ...], ...],
        shapes: tuple[tuple[int, ...], ...],
        few: int,
        many: tuple[int, int],
        chosen: dict[str | None, dict[str | bool | None, Any]],
        /,
    ) -> None: ...
    def __call__(self, *values: Any, out: Any = None, threads: int | None = None) -> Any: ...
    def __getattr__(self, name: str) -> Any: ...
