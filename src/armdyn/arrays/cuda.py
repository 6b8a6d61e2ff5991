"""Kernels on NVIDIA's GPUs, whosever arrays they work on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

import numpy as np

from armdyn.engine.calls import CarefulPath
from armdyn.forks import importing


def kernel(path: CarefulPath) -> Any:
    """What launches a function on a GPU; made at first need."""
    found = path.others.get("cuda")
    if found is None:
        with importing:
            gpu: Any = import_module("armdyn.engine.gpu")
        found = path.others.setdefault("cuda", gpu.Kernel(path.compile, path.takes, path.shapes))
    return found


def ready(path: CarefulPath) -> Any:
    """``kernel``; in a forked process it says why there is none, before a library does."""
    with importing:
        driver: Any = import_module("armdyn.engine.cuda")
    driver.check_usable()
    return kernel(path)


class Memory(ABC):
    """The memory of a GPU as a library hands it out, for launches that are more than a call.

    Attributes:
        number: of the GPU, as the driver counts.
        names: where the library has functions with NumPy's names.
    """

    number: int
    names: Any

    @property
    def widest(self) -> str:
        """The type of numbers that the library has for float64."""
        return "float64"

    @property
    @abstractmethod
    def stream(self) -> int:
        """The driver's handle of the stream on which launches are to stand."""

    @abstractmethod
    def empty(self, shape: Sequence[int], dtype: str) -> Any:
        """A new array, for kernels to fill."""

    @abstractmethod
    def rows(self, value: Any, shape: Sequence[int], dtype: str) -> Any:
        """An array of the library, broadcast to a shape, as plain memory in C order."""

    @abstractmethod
    def send(self, array: np.ndarray) -> Any:
        """A copy of NumPy's array."""

    @abstractmethod
    def address(self, array: Any) -> int:
        """Where an array begins; what the library has to do before goes before launches."""

    def wait(self) -> None:  # noqa: B027, where launches stand on the library's own stream
        """Let launches end before the library reads what they write."""

    def entered(self) -> AbstractContextManager[Any]:
        """While this lasts, the GPU is the one that the library works on."""
        return nullcontext()
