"""Kernels of programs on GPUs: PTX from the disk cache or newly made, launched on any stream.

A kernel here works on memory of the card that others have: a call says where the rows of arguments
lie and where those of results go. It only enqueues the work, as all launches do.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from ctypes import addressof
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
    sizes: int  # the last word of ``cuda.HEAD``


class OnDevices:
    """The kernels of one program on GPUs, each made at first need and kept.

    Attributes:
        heads: what launches begin with, by device: of float64, then of float32. By these, code
            that is not Python launches what ``prepare`` has made.
    """

    def __init__(
        self, code: Code, takes: tuple[Shape, ...], shapes: tuple[Shape, ...], numbers: int
    ) -> None:
        self.code, self.takes, self.shapes = code, takes, shapes
        self._ready: dict[tuple[str, int], Ready] = {}
        self._numbers = numbers  # that a launch takes
        self.heads = (cuda.Head * (2 * cuda.DEVICES))()

    def compile(self, dtype: str, limit: int) -> bytes:
        """The PTX, for cards that give a block so many bytes of shared memory."""
        raise NotImplementedError

    def form(self, dtype: str, limit: int) -> tuple[str, ...]:
        """What kind of PTX that is, for the disk cache."""
        raise NotImplementedError

    def go(self, given: Sequence[int], count: int, dtype: str, device: int, stream: int) -> None:
        """Launch the kernel on so many states."""
        ready = self._ready.get((dtype, device))
        if ready is None or ready.driver.trouble:
            ready = self.prepare(dtype, device)
        if count <= 0:
            return
        block = ready.pack(*ready.head, stream, (count + 31) >> 5, ready.sizes, *given)
        trouble = ready.driver.launch(block, ready.size)
        if trouble:
            ready.driver.check(trouble)

    def prepare(self, dtype: str, device: int) -> Ready:
        """The kernel on a device, made and loaded if this is the first need of it."""
        driver = cuda.driver()
        limit = ptx.limit(driver.attribute(device, cuda.OPT_IN))
        with calls.COMPILING:
            if (dtype, device) not in self._ready:
                text = self.code.kept(lambda: self._checked(dtype, limit), *self.form(dtype, limit))
                shared = ptx.shared_bytes(text)
                function = driver.function(device, text, shared)
                block = cuda.arguments(self._numbers)
                head = (*driver.addresses, function, driver.context(device))
                few = driver.few_blocks(device) if ptx.takes_several(text) else 0
                sizes = shared | (few << 32)
                self._ready[dtype, device] = Ready(driver, block.pack, block.size, head, sizes)
                if device < cuda.DEVICES:
                    here = self.heads[device + cuda.DEVICES * (dtype == "float32")]
                    here.words[:] = (*head, 0, 0, sizes)
                    here.launcher = addressof(driver.entry)  # last: now others may read it
        return self._ready[dtype, device]

    def _checked(self, dtype: str, limit: int) -> bytes:
        program = self.code.program
        sizes = [math.prod(shape) for shape in self.takes]
        if [*program.inputs.values()] != sizes or program.shapes != self.shapes:
            raise AssertionError(f"{program.name} takes {program.inputs}, not {self.takes}")
        return self.compile(dtype, limit)


class Kernel(OnDevices):
    """A program on GPUs: many states in one launch."""

    def __init__(self, code: Code, takes: tuple[Shape, ...], shapes: tuple[Shape, ...]) -> None:
        super().__init__(code, takes, shapes, 2 * len(takes) + len(shapes) + 1)

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
            outputs: where the rows of each result go, one after the other; arguments, which may be
                read again after results were stored, must not lie there.
            count: of the states.
            dtype: "float32" or "float64", of all numbers.
            device: its number, as the driver counts.
            stream: the driver's handle of it; 0: the one that is there from the beginning.

        Raises:
            DeviceError: where there is no such device, or it no longer answers.
        """
        given = [number for pair in inputs for number in pair]
        self.go([*given, *outputs, count], count, dtype, device, stream)

    def compile(self, dtype: str, limit: int) -> bytes:
        """The PTX, for cards that give a block so many bytes of shared memory."""
        return ptx.compile(self.code.program, dtype, limit)

    def form(self, dtype: str, limit: int) -> tuple[str, ...]:
        """What kind of PTX that is, for the disk cache."""
        return "ptx", dtype, str(limit)


class March(OnDevices):
    """A program that is repeated on GPUs: the steps of many simulations in one launch.

    ``states`` are pairs of an argument and the result that it is in the next round. They stay in
    registers; the bits are those of the program called again and again. The rows of ``still``
    arguments are the same in all rounds.
    """

    def __init__(
        self,
        code: Code,
        takes: tuple[Shape, ...],
        shapes: tuple[Shape, ...],
        states: Sequence[tuple[int, int]],
        still: Sequence[int] = (),
    ) -> None:
        super().__init__(code, takes, shapes, 3 * len(takes) + len(shapes) + 3)
        self.states, self.still = tuple(states), tuple(still)
        for argument, result in self.states:
            if math.prod(takes[argument]) != math.prod(shapes[result]):
                raise AssertionError(f"result {result} cannot be argument {argument}")

    def launch(
        self,
        inputs: Sequence[tuple[int, int, int]],
        outputs: Sequence[int],
        count: int,
        steps: int,
        every: int,
        dtype: str,
        device: int,
        stream: int,
    ) -> None:
        """Make so many steps of so many states, behind what the stream has to do.

        Args:
            inputs: of each argument, the address of its first row, how many numbers lie from a
                state's row to the next, and from a step's to the next; 0: the same row for all.
                The rows of a state are read before the first step. They may be read a second
                time when results have been stored, and must not lie where these go.
            outputs: where each result goes, of every ``every``-th step, with the axes (steps that
                are stored, states, numbers); 0: nowhere.
            count: of the states.
            steps: of each.
            every: so many steps lie from one that is stored to the next, which is the last of them.
            dtype: "float32" or "float64", of all numbers.
            device: its number, as the driver counts.
            stream: the driver's handle of it; 0: the one that is there from the beginning.

        Raises:
            DeviceError: where there is no such device, or it no longer answers.
        """
        given = [number for each in inputs for number in each]
        self.go([*given, *outputs, count, steps, every], count, dtype, device, stream)

    def compile(self, dtype: str, limit: int) -> bytes:
        """The PTX, which needs no shared memory."""
        return ptx.compile_march(self.code.program, dtype, self.states, self.still)

    def form(self, dtype: str, limit: int) -> tuple[str, ...]:
        """What kind of PTX that is, for the disk cache."""
        return "ptx march", dtype, str(self.states), str(self.still)
