"""Kernels of programs on GPUs: PTX from the disk cache or newly made, launched on any stream.

A kernel here works on memory of the card that others have: a call says where the rows of arguments
lie and where those of results go. It only enqueues the work, as all launches do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from armdyn.engine import calls, cuda, ptx
from armdyn.engine.blocks import Shape
from armdyn.errors import DeviceError

if TYPE_CHECKING:
    from armdyn.engine import Code


def available() -> bool:
    """Whether this machine has a GPU that can be used from this process."""
    try:
        cuda.driver()
    except DeviceError:
        return False
    return True


class Ready(NamedTuple):
    """A kernel on a device, and what the block of arguments of every launch begins with."""

    driver: cuda.Driver
    pack: Callable[..., bytes]
    size: int  # bytes of a block
    head: tuple[int, ...]  # addresses of the driver's functions, the kernel, the context
    shared: int


class Kernel:
    """The kernels of one program on GPUs, each made at first need and kept."""

    def __init__(self, code: Code, takes: tuple[Shape, ...], shapes: tuple[Shape, ...]) -> None:
        self.code, self.takes, self.shapes = code, takes, shapes
        self._ready: dict[tuple[str, int], Ready] = {}
        self._numbers = 2 * len(takes) + len(shapes) + 1

    def launch(
        self,
        inputs: Sequence[tuple[int, int]],
        outputs: Sequence[int],
        count: int,
        dtype: str,
        device: int,
        stream: int,
    ) -> None:
        """Compute so many states, behind what the stream has to do.

        Args:
            inputs: of each argument, the address of the first row on the device, and how many
                numbers lie from a state's row to the next; 0: one row for all states.
            outputs: where the rows of each result go, one after the other.
            count: of the states.
            dtype: "float32" or "float64", of all numbers.
            device: its number, as the driver counts.
            stream: the driver's handle of it; 0: the one that is there from the beginning.

        Raises:
            DeviceError: where there is no such device, or it no longer answers.
        """
        ready = self._ready.get((dtype, device))
        if ready is None or ready.driver.trouble:
            ready = self._prepared(dtype, device)
        if count <= 0:
            return
        given = [number for pair in inputs for number in pair]
        block = ready.pack(
            *ready.head, stream, (count + 31) >> 5, ready.shared, *given, *outputs, count
        )
        trouble = ready.driver.launch(block, ready.size)
        if trouble:
            ready.driver.check(trouble)

    def _prepared(self, dtype: str, device: int) -> Ready:
        driver = cuda.driver()
        limit = ptx.limit(driver.attribute(device, cuda.OPT_IN))
        with calls.COMPILING:
            if (dtype, device) not in self._ready:
                text = self._text(dtype, limit)
                shared = ptx.shared_bytes(text)
                function = driver.function(device, text, shared)
                form = cuda.arguments(self._numbers)
                head = (*driver.addresses, function, driver.context(device))
                self._ready[dtype, device] = Ready(driver, form.pack, form.size, head, shared)
        return self._ready[dtype, device]

    def _text(self, dtype: str, limit: int) -> bytes:
        """The PTX of this program."""
        return self.code.kept(lambda: self._compile(dtype, limit), "ptx", dtype, str(limit))

    def _compile(self, dtype: str, limit: int) -> bytes:
        program = self.code.program
        numbers = [math.prod(shape) for shape in self.takes]
        if [*program.inputs.values()] != numbers or program.shapes != self.shapes:
            raise AssertionError(f"{program.name} takes {program.inputs}, not {self.takes}")
        return ptx.compile(program, dtype, limit)
