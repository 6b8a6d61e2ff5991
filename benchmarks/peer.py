"""The interface of a library that is measured: four quantities of one arm.

``single`` is the call a user of the library would write, state in, result out; ``in_place`` is the
call where the library can leave the result in memory it was given; ``batch`` is what the library
has for many states. Each answers with a Call ready to be timed, or None where there is none.
"""

from __future__ import annotations

from importlib import import_module, metadata
from pathlib import Path
from typing import ClassVar

import numpy as np

from armdyn.chain import Chain
from benchmarks.timing import Call


class Peer:
    """A library on one arm."""

    name: ClassVar[str]
    needs: ClassVar[tuple[str, ...]] = ()  # modules
    distributions: ClassVar[tuple[str, ...]]

    def __init__(self, chain: Chain, build: Path) -> None:
        self.chain, self.n = chain, chain.n

    def single(self, quantity: str, *state: np.ndarray) -> Call:
        """One state, a new array."""
        raise NotImplementedError

    def in_place(self, quantity: str, *state: np.ndarray) -> Call | None:
        """One state, without a new array."""
        return None

    def batch(self, quantity: str, *state: np.ndarray, threads: int) -> Call | None:
        """States (N, n) in C order, result in memory that was given; the call returns it."""
        return None

    def room(self, quantity: str, *state: np.ndarray) -> np.ndarray:
        """Memory for the result."""
        last = (self.n, self.n) if quantity == "mass_matrix" else (self.n,)
        return np.zeros((*state[0].shape[:-1], *last), state[0].dtype)

    @classmethod
    def missing(cls) -> str | None:
        """Why this library cannot be measured here; None if it can."""
        try:
            for module in cls.needs:
                import_module(module)
        except Exception as trouble:  # a broken installation must not stop the others
            return f"{type(trouble).__name__}: {trouble}"
        return None

    @classmethod
    def versions(cls) -> str:
        """The versions of what it is made of."""
        return ", ".join(f"{name} {metadata.version(name)}" for name in cls.distributions)
