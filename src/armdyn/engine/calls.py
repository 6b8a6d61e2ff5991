"""Calls: from a user's arrays to compiled kernels and back.

A kernel reads and writes plain memory, without checks and without Python:

    void single(const T *const *in, T *const *out)                  one state
    void batch (const T *const *in, T *const *out, int64_t count)   count states, one after another
    void stream(const T *const *in, T *const *out, int64_t count)   the same, of very many

in[k] points to the k-th argument, out[k] to the k-th result, state after state in C order; T is
double or float. ``stream`` is for results that outgrow the caches. ``Function`` makes of them what
users call: ``f(*arrays, out=None, threads=None)``.

A call takes one of two paths. Both run the same kernels, so a result has the same bits whichever
path it came by.

- The fast path, or front, takes the calls that need no thought. Where the C extension is built
  (armdyn/engine/_call.c) the front is written in C, and a call costs some tens of ns beside the
  kernel's work where the kernel can use the arrays as they lie, and a few hundred where they are
  strided, broadcast, of mixed types, or lists (_shapes.c). Where it is not, a front in Python takes
  single float64 states and reaches the kernel by ctypes, which costs about a microsecond. A front
  that meets any other call hands it on as it came.
- The careful path, ``CarefulPath``, takes any call. It converts and broadcasts arrays, spreads a
  batch over threads (armdyn/engine/workers.py; the C front has a quicker way of its own), finds out
  what arguments by name and options mean, and says what is wrong. Arrays of other libraries, such
  as torch's, it hands on to ``elsewhere``.

``armdyn.info()["call_path"]`` says which front is in use.
"""

from __future__ import annotations

import functools
import math
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from ctypes import CFUNCTYPE, PYFUNCTYPE, byref, c_int64, c_size_t, c_void_p
from inspect import Parameter, signature
from types import NoneType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armdyn import forks
from armdyn.chain.given import is_masked
from armdyn.engine import blocks, processor, workers
from armdyn.engine.blocks import Shape
from armdyn.errors import ShapeError, listed, shorten, whole_number

try:
    from armdyn.engine import _call

    EXTENSION = _call.INTERFACE == 7  # else it was built from an earlier text, and is left alone
except (ImportError, AttributeError):
    EXTENSION = False

Compile = Callable[[str, str], int]
Elsewhere = Callable[["CarefulPath", Sequence[Any], Any, Any], Any]
Chosen = dict[str | None, dict[str | bool | None, Callable[..., Any]]]

KINDS = ("single", "batch", "stream")  # of kernels
FLOAT64, FLOAT32 = np.dtype(np.float64), np.dtype(np.float32)
BATCH = CFUNCTYPE(None, c_void_p, c_void_p, c_int64)  # releases the GIL
WORTH_THREADS = 3e5  # nanoseconds of work, as estimated, above which threads pay,
WORTH_THREADS_IN_C = 4e4  # and where the C front spreads it over its own
CACHES = 16_000_000  # bytes that one core usually has of all caches
MOST_ARGUMENTS, MOST_RESULTS = 16, 32
SINGLY = 2  # batches of up to so many states are run by the single kernel, as in _call.h
ALL = slice(None)
OURS = frozenset({np.ndarray, list, tuple, float, int, np.float64, np.float32})
COMPILING = forks.free_in_children(threading.RLock())  # held while a kernel is made

# Answers a call on other libraries' arrays: of the path, its values, out and threads. Where there
# are none it says NotImplemented. armdyn.robot puts it here, for the engine knows no library.
elsewhere: Elsewhere = lambda path, values, out, threads: NotImplemented  # noqa: E731
# The same by the type of arrays, where all are of the same: the C front looks it up by itself.
libraries: dict[type, Elsewhere] = {}
if EXTENSION:
    _call.answer_by(libraries)


class Argument(NamedTuple):
    """What a call takes: its shape for one state, and what its numbers are, for who gave others."""

    shape: Shape
    meaning: str = ""


class Options(NamedTuple):
    """What a call may ask for besides arrays, ``out=`` and ``threads=``: see ``Function``."""

    like: Callable[..., Any]  # has the options among its parameters
    choose: Callable[..., Callable[..., Any]]


def Function(
    name: str,
    arguments: Mapping[str, Argument],
    shapes: tuple[Shape, ...],
    compile: Compile,
    options: Options | None = None,
) -> Callable[..., Any]:
    """A function of arrays that answers with one array, or with a tuple of several.

    A function may have options, such as ``frame=``. Each value of an option asks for another
    function of the same arrays: ``options.choose(frame="tool0")`` answers with that function, and
    the call goes there. What was chosen for one option alone is kept, so that the C front finds it
    by itself the next time.

    Args:
        name: what it computes.
        arguments: by name, in order.
        shapes: of each result, for one state.
        compile: called as ``compile("single" | "batch" | "stream", "float64" | "float32")`` at
            first need, once for each; answers with the kernel's address, good for as long as the
            function.
        options: ``options.choose(**given)`` answers with the function that takes a call with these
            options; ``options.like`` is a Python function that lends its signature and
            documentation. None: there are no options.
    """
    path = CarefulPath(name, arguments, shapes, compile, options)
    front = front_in_c(path) if EXTENSION else front_in_python(path)
    path.front = weakref.ref(front)
    return front


def front_in_c(path: CarefulPath) -> Callable[..., Any]:
    """Answers calls on arrays that kernels can use where they lie."""
    few = int(WORTH_THREADS_IN_C / path.nanoseconds)
    return _call.Function(path, path.table, path.takes, path.shapes, few, path.many, path.chosen)


def front_in_python(path: CarefulPath) -> Callable[..., Any]:
    """Answers calls on a single float64 state, by way of memory at addresses known to ctypes."""
    count = len(path.arguments)
    take, give_back = path.states64.pop, path.states64.append

    def front(*values: Any, **keywords: Any) -> Any:
        if not keywords and len(values) == count and OURS.issuperset(map(type, values)):
            try:
                state = take()
            except IndexError:  # none yet, or all in use by other threads
                return path(*values)
            inputs, kernel, read, written, answer, _, _ = state
            try:  # a view refuses all but a float64 vector; a loop would cost 300 ns
                inputs[0][ALL] = values[0]
                if count > 1:
                    inputs[1][ALL] = values[1]
                if count > 2:
                    inputs[2][ALL] = values[2]
                if count > 3:
                    inputs[3][ALL] = values[3]
                for k in range(4, count):
                    inputs[k][ALL] = values[k]
            except (TypeError, ValueError, BufferError, NotImplementedError):
                give_back(state)
            else:
                kernel(read, written)
                result = answer()
                give_back(state)
                return result
        return path(*values, **keywords)

    front.path = path  # type: ignore[attr-defined]
    return functools.update_wrapper(front, path)


class CarefulPath:
    """The call path for any call: conversion, checks, broadcasting, blocks and threads."""

    def __init__(
        self,
        name: str,
        arguments: Mapping[str, Argument],
        shapes: tuple[Shape, ...],
        compile: Compile,
        options: Options | None = None,
    ) -> None:
        if not (1 <= len(arguments) <= MOST_ARGUMENTS and 1 <= len(shapes) <= MOST_RESULTS):
            raise ValueError(
                f"{name} has {len(arguments)} arguments and {len(shapes)} results; expected 1 to "
                f"{MOST_ARGUMENTS} and 1 to {MOST_RESULTS}"
            )
        self.__name__ = self.__qualname__ = self.name = name
        self.__doc__ = f"{name}({', '.join(arguments)}, out=None, threads=None)"
        if options is not None:
            functools.update_wrapper(self, options.like)
        self.arguments = tuple(arguments)
        self.takes = tuple(argument.shape for argument in arguments.values())
        self.shapes = shapes
        self._meanings = [argument.meaning for argument in arguments.values()]
        Addresses = c_size_t * (2 * len(KINDS))  # of float64, then of float32
        self.table = Addresses()
        given, told = (sum(map(math.prod, numbers)) for numbers in (self.takes, shapes))
        self.nanoseconds = 2 * given + told / 2  # a state
        # More states than these outgrow the caches, in float64 and in float32. Where most of the
        # memory that a call needs is its arguments', ``stream`` gains nothing.
        gains = told > given and processor.storing() != "plain"
        most = CACHES // (8 * told) if gains else sys.maxsize // 2
        self.many = most, 2 * most
        self.few = int(WORTH_THREADS / self.nanoseconds)
        self.states64: list[State] = []  # not in use by any call
        self.states32: list[State] = []
        self.front: Callable[[], Callable[..., Any] | None] = NoneType  # that hands on to this
        self.compile = compile
        self.others: dict[str, Any] = {}  # what arrays of other libraries need of it, by library
        self._choose = None if options is None else options.choose
        self._parameters = parameters_of(arguments, options)
        found = self._parameters.values()
        self._form = f"{name}({', '.join(map(str, found))})"
        self._needed = frozenset(arguments)
        self._order = [p.name for p in found if p.kind is p.POSITIONAL_OR_KEYWORD]
        # What options chose before, for the C front: option -> value -> function. Under None
        # stands the option that may be given without its keyword, after the arrays.
        names = [name for name in self._parameters if name not in (*arguments, "out", "threads")]
        self.chosen: Chosen = {name: {} for name in names}
        for name in self._order[len(arguments) :]:
            self.chosen[None] = self.chosen[name]

    def __repr__(self) -> str:
        return f"<armdyn function {self._form}>"

    def __call__(
        self,
        *values: ArrayLike,
        out: np.ndarray | tuple[np.ndarray, ...] | None = None,
        threads: int | None = None,
        **named: Any,
    ) -> Any:
        """The results of a call."""
        if named or len(values) != len(self.arguments):
            return self._other_form(values, named, out, threads)
        if type(values[0]) not in OURS or not OURS.issuperset(map(type, values)):
            answer = elsewhere(self, values, out, threads)
            if answer is not NotImplemented:
                return answer
        arrays = [real_array(name, v) for name, v in zip(self.arguments, values, strict=True)]
        batch = self.batch([array.shape for array in arrays])
        narrow = all(array.dtype.type is np.float32 for array in arrays)
        dtype = FLOAT32 if narrow else FLOAT64
        if threads is not None:
            threads = whole_number("threads", threads, ShapeError)
        targets = self._targets(out, batch, dtype, arrays)
        if not batch:
            answer = self._single(arrays, targets, dtype)
            return answer if out is None else out
        count = math.prod(batch)
        if count > SINGLY:
            self._many(arrays, targets, batch, dtype, threads)
        elif count:
            self._one_by_one(arrays, targets, batch, dtype)
        if out is not None:
            return out
        return tuple(targets) if len(targets) > 1 else targets[0]

    @property
    def path(self) -> CarefulPath:
        """This, also as an attribute of its front."""
        return self

    @property
    def quickest(self) -> Callable[..., Any]:
        """The front, while there is one, else this."""
        return self.front() or self

    def kind(self, count: int, dtype: np.dtype) -> str:
        """Which kernel takes so many states, more than a few."""
        return "stream" if count > self.many[dtype == FLOAT32] else "batch"

    def address(self, kind: str, dtype: np.dtype) -> int:
        """Where a kernel begins; compiles it if this is the first need of it."""
        place = KINDS.index(kind) + len(KINDS) * (dtype is FLOAT32)
        if not self.table[place]:
            with COMPILING:
                if not self.table[place]:
                    self.table[place] = self.compile(kind, dtype.name)
        return self.table[place]

    # What came ------------------------------------------------------------------------------

    def _other_form(
        self, values: tuple[Any, ...], named: dict[str, Any], out: Any, threads: Any
    ) -> Any:
        """A call with arguments by name or with options: goes to the function that these choose."""
        given = dict(zip(self._order, values, strict=False))
        given.update(named)
        if len(given) < len(values) + len(named) or not (
            self._needed <= given.keys() <= self._parameters.keys()
        ):
            found = listed([*["..."] * len(values), *(f"{name}=..." for name in named)])
            slip = self._slip(len(values), named)
            raise TypeError(f"{self.name}({found}) ({slip}); expected {self._form}")
        arrays = [given.pop(name) for name in self.arguments]
        function = self if self._choose is None else self._choose(**given)
        if len(given) == 1:  # one option, whose choice is kept where its hash is no user's code
            ((option, value),) = given.items()
            if type(value) in (str, bool, NoneType):
                self.chosen[option][value] = function
        return function(*arrays, out=out, threads=threads)

    def _slip(self, count: int, named: dict[str, Any]) -> str:
        """What is wrong with a call's arguments, of which so many came without a name."""
        strange = [name for name in named if name not in self._parameters]
        if strange:
            return f"no argument {listed(strange)}"
        if count > len(self._order):
            return "too many positional arguments"
        twice = [name for name in self._order[:count] if name in named]
        if twice:
            return f"{listed(twice)} given twice"
        return f"missing {listed(x for x in self.arguments[count:] if x not in named)}"

    def batch(
        self, shapes: Sequence[Shape], broadcast: Callable[..., Shape] = np.broadcast_shapes
    ) -> Shape:
        """The batch axes of all arguments, of these shapes, broadcast against each other."""
        batches = []  # compared, not hashed, for torch's sizes may be symbols
        for k, (found, shape) in enumerate(zip(shapes, self.takes, strict=True)):
            at = len(found) - len(shape)
            if at < 0 or found[at:] != shape:
                raise ShapeError(f"{self.arguments[k]} has shape {found}; {self._expects(k)}")
            batches.append(found[:at])
        try:
            same = all(each == batches[0] for each in batches)
            return batches[0] if same else broadcast(*batches)
        except (ValueError, RuntimeError):  # torch's
            pairs = zip(self.arguments, shapes, strict=True)
            told = ", ".join(f"{name} {found}" for name, found in pairs)
            raise ShapeError(f"batch axes do not broadcast: {told}") from None

    def _expects(self, k: int) -> str:
        """What is expected of the k-th argument."""
        shape = ", ".join(["...", *map(str, self.takes[k])])
        return ", ".join(filter(None, [f"expected ({shape})", self._meanings[k]]))

    def _targets(
        self, out: Any, batch: Shape, dtype: np.dtype, arrays: list[np.ndarray]
    ) -> list[np.ndarray]:
        """The arrays that results go to: those of ``out`` if they fit, else new ones."""
        wholes = [(*batch, *shape) for shape in self.shapes]
        if out is None:
            return [np.empty(whole, dtype) for whole in wholes] if batch else []
        taken = dict(zip(self.arguments, arrays, strict=True))
        if len(wholes) == 1:
            check_target("out", out, wholes[0], dtype, taken)
            return [out]
        if not isinstance(out, tuple) or len(out) != len(wholes):
            found = shorten(out)
            raise ShapeError(f"out is {found}; expected a tuple of {len(wholes)} arrays")
        for k, (target, whole) in enumerate(zip(out, wholes, strict=True)):
            check_target(f"out[{k}]", target, whole, dtype, taken)
            taken[f"out[{k}]"] = target
        return list(out)

    # What is done ---------------------------------------------------------------------------

    def _single(self, arrays: list[np.ndarray], targets: list[np.ndarray], dtype: np.dtype) -> Any:
        """One state: its results go to the targets, or are the answer if there are none."""
        states = self.states32 if dtype is FLOAT32 else self.states64
        try:
            state = states.pop()
        except IndexError:
            state = new_state(self, dtype)
        for argument, array in zip(state.arguments, arrays, strict=True):
            argument[...] = array
        state.kernel(state.read, state.written)
        for target, result in zip(targets, state.results, strict=False):
            target[...] = result
        answer = None if targets else state.answer()
        states.append(state)
        return answer

    def _one_by_one(
        self, arrays: list[np.ndarray], targets: list[np.ndarray], batch: Shape, dtype: np.dtype
    ) -> None:
        """A batch of so few states that the batch kernel, made for whole vectors, takes longer."""
        pairs = zip(arrays, self.takes, strict=True)
        rows = [np.broadcast_to(array, (*batch, *shape)) for array, shape in pairs]
        wholes = [np.asarray(target) for target in targets]
        for where in np.ndindex(*batch):
            self._single(
                [row[where] for row in rows], [whole[(*where, ...)] for whole in wholes], dtype
            )

    def _many(
        self,
        arrays: list[np.ndarray],
        targets: list[np.ndarray],
        batch: Shape,
        dtype: np.dtype,
        threads: int | None,
    ) -> None:
        if threads is None:
            threads = workers.default_threads() if math.prod(batch) > self.few else 1
        inputs, outputs = (
            [blocks.Rows(array, batch, shape, dtype) for array, shape in zip(*pairs, strict=True)]
            for pairs in ((arrays, self.takes), (targets, self.shapes))
        )
        kernel = BATCH(self.address(self.kind(math.prod(batch), dtype), dtype))
        blocks.run(kernel, inputs, outputs, batch, threads)


class State(NamedTuple):
    """Memory for one state at addresses that stay, and the kernel that works on it."""

    inputs: tuple[memoryview, ...]  # of the arguments
    kernel: Callable[[Any, Any], None]
    read: Any  # pointers, as ctypes passes them
    written: Any
    answer: Callable[[], Any]  # the results, copied
    arguments: tuple[np.ndarray, ...]
    results: tuple[np.ndarray, ...]


def new_state(path: CarefulPath, dtype: np.dtype) -> State:
    """A state of a function's arguments and results."""
    arguments = tuple(np.empty(shape, dtype) for shape in path.takes)
    results = tuple(np.empty(shape, dtype) for shape in path.shapes)

    def pointers(arrays: tuple[np.ndarray, ...]) -> Any:
        return byref((c_void_p * len(arrays))(*(array.ctypes.data for array in arrays)))

    def several() -> tuple[Any, ...]:  # numbers where there is no axis, as NumPy answers
        return tuple(result.copy() if result.ndim else result[()] for result in results)

    one = results[0].copy if results[0].ndim else lambda: results[0][()]
    return State(
        tuple(argument.data for argument in arguments),
        PYFUNCTYPE(None)(path.address("single", dtype)),  # keeps the GIL, which costs less
        pointers(arguments),
        pointers(results),
        one if len(results) == 1 else several,
        arguments,
        results,
    )


# What users may give ------------------------------------------------------------------------


def parameters_of(arguments: Iterable[str], options: Options | None) -> dict[str, Parameter]:
    """A call's parameters: the arguments, the options, ``out`` and ``threads``."""
    if options is not None:
        found = signature(options.like).parameters
        return {name: p.replace(annotation=p.empty) for name, p in found.items()}
    return {name: Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in arguments} | {
        name: Parameter(name, Parameter.KEYWORD_ONLY, default=None) for name in ("out", "threads")
    }


def real_array(name: str, value: ArrayLike) -> np.ndarray:
    """The value as an array of real numbers; all but float32 are computed with as float64."""
    try:
        array = np.asarray(value)
    except ValueError:
        found = shorten(value)
        raise ShapeError(f"{name} is ragged: {found}; expected an array (..., n)") from None
    if is_masked(value):
        raise ShapeError(f"{name} is a masked array, some of it masked; expected no mask")
    if array.dtype.kind not in "iuf" or array.dtype.itemsize > 8:
        raise ShapeError(
            f"{name} has dtype {array.dtype}; expected real numbers (float64, float32 or integers)"
        )
    return array


def check_target(
    name: str, target: Any, shape: Shape, dtype: np.dtype, taken: dict[str, np.ndarray]
) -> None:
    """Refuses what was given to receive a result, if it cannot."""
    if not isinstance(target, np.ndarray):
        found = shorten(target)
        raise ShapeError(f"{name} is {found}; expected a {dtype} array of shape {shape}")
    if target.shape != shape or target.dtype != dtype:
        found = f"{target.dtype} {target.shape}"
        raise ShapeError(f"{name} is {found}; expected a {dtype} array of shape {shape}")
    if not target.flags.writeable:
        raise ShapeError(f"{name} is read-only; expected an array that can be written to")
    if not is_spread(target):
        raise ShapeError(
            f"{name} overlaps itself: its shape is {shape}, its strides are {target.strides} "
            "[bytes]; expected each number in memory of its own"
        )
    for other, array in taken.items():
        if np.may_share_memory(target, array):
            raise ShapeError(f"{name} overlaps {other}; expected memory of its own")


def is_spread(array: np.ndarray) -> bool:
    """Whether each axis steps over all that the axes of smaller steps reach, as in _shapes.c."""
    reach = array.itemsize
    for stride, length in sorted(zip(map(abs, array.strides), array.shape, strict=True)):
        if length > 1 and array.size:
            if stride < reach:
                return False
            reach += (length - 1) * stride
    return True
