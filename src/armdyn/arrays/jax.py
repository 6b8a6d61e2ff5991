"""JAX: arrays in, arrays out, eagerly and inside jit, vmap, grad and jvp.

A call is one primitive, ``call_p``, which XLA hands to a compiled handler (xla.py). Its rules are
those of any function: the derivative along a direction is the call of another compiled function,
linear in the direction, and that one transposed is a third. Each has derivatives in turn.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from ctypes import cast
from functools import partial
from typing import Any

import jax
import numpy as np
from jax import numpy as jnp
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from armdyn import forks
from armdyn.arrays import cuda, key, xla
from armdyn.engine import cuda as driver
from armdyn.engine.calls import CarefulPath
from armdyn.engine.differentiated import differentiated
from armdyn.errors import ShapeError, shorten

# Of arguments that are alike. ``function`` is what is called; where ``along`` is True it is the
# derivative of it along a direction, whose numbers stand after the arguments.
call_p = Primitive("armdyn")
call_p.multiple_results = True


def call(path: CarefulPath, values: Sequence[Any], out: Any, threads: int | None) -> Any:
    """The results of a call on JAX's arrays; XLA decides on which thread."""
    if out is not None:
        raise ShapeError("out is given; JAX's arrays cannot be written to, expected no out")
    return function(path)(*values)


def function(path: CarefulPath) -> Callable[..., Any]:
    """The function for JAX, with which it remembers what it compiled."""
    found = path.others.get("jax")
    if found is None:
        found = path.others.setdefault("jax", jax.jit(partial(run, path), inline=True))
    return found


def run(path: CarefulPath, *values: Any) -> Any:
    """The results of a call on arrays of any shapes and types."""
    for name, value in zip(path.arguments, values, strict=True):
        if not (jnp.issubdtype(value.dtype, jnp.floating) or value.dtype.kind in "iu"):
            raise ShapeError(
                f"{name} has dtype {value.dtype}; expected real numbers (float64, float32 or "
                "integers)"
            )
    narrow = all(value.dtype == jnp.float32 for value in values)
    dtype = jnp.float32 if narrow else jax.dtypes.canonicalize_dtype(jnp.float64)
    batch = path.batch([value.shape for value in values])
    alike = [
        jnp.broadcast_to(value.astype(dtype), (*batch, *shape))
        for value, shape in zip(values, path.takes, strict=True)
    ]
    found = call_p.bind(*alike, function=path, along=False)
    return tuple(found) if len(found) > 1 else found[0]


def like(value: Any, example: Any) -> Any:
    """A list or number as an array of the same kind as another."""
    alone = has_numbers(example) and len(example.devices()) == 1
    where = device(example) if alone else None
    try:
        return jnp.asarray(value, dtype=jnp.result_type(example.dtype, jnp.float32), device=where)
    except (TypeError, ValueError):
        raise ShapeError(f"{shorten(value)} is no array of real numbers") from None


def on_host(value: Any) -> np.ndarray | None:
    """An array's numbers, unless JAX only traces it."""
    return np.asarray(value) if has_numbers(value) else None


def has_numbers(value: Any) -> bool:
    """Whether JAX does not only trace an array."""
    return not isinstance(value, jax.core.Tracer)


def of_numpy(array: np.ndarray, example: Any) -> Any:
    """A copy of NumPy's array where another one lies."""
    return jax.device_put(array, device(example))


def device(value: Any) -> Any:
    """Where an array lies."""
    devices = sorted(value.devices(), key=str)
    if len(devices) > 1:
        raise ShapeError(f"an array is on {len(devices)} devices; expected arrays on one device")
    return devices[0]


class Memory(cuda.Memory):
    """The memory of a GPU that JAX hands out.

    JAX tells nobody its streams: so launches stand on the driver's own, after what JAX has to do,
    and JAX goes on after they have ended. The arrays that they fill are seen by nobody before.
    """

    names = jnp
    stream = 0

    def __init__(self, device: Any) -> None:
        self.device, self.number = device, device.local_hardware_id

    @property
    def widest(self) -> str:
        """The type of numbers that JAX takes for float64."""
        return jax.dtypes.canonicalize_dtype(jnp.float64).name

    def entered(self) -> AbstractContextManager[Any]:
        """While this lasts, JAX computes, even if what is around is traced."""
        return jax.ensure_compile_time_eval()

    def empty(self, shape: Sequence[int], dtype: str) -> Any:
        """A new array."""
        return jnp.empty(tuple(shape), dtype, device=self.device)

    def rows(self, value: Any, shape: Sequence[int], dtype: str) -> Any:
        """An array, broadcast to a shape, as plain memory in C order."""
        return jnp.broadcast_to(value.astype(dtype), tuple(shape))

    def send(self, array: np.ndarray) -> Any:
        """A copy of NumPy's array."""
        return jax.device_put(array, self.device)

    def address(self, array: Any) -> int:
        """Where an array begins, once it is computed."""
        return array.block_until_ready().unsafe_buffer_pointer()

    def wait(self) -> None:
        """Let launches end."""
        driver.driver().wait(self.number, self.stream)


def memory(value: Any) -> Memory | None:
    """How to work where an array lies, if that is a GPU."""
    found = device(value)
    return Memory(found) if found.platform == "gpu" else None


# The primitive ------------------------------------------------------------------------------


def called(function: CarefulPath, along: bool) -> CarefulPath:
    """What a call of the primitive computes."""
    return differentiated(function, "jvp") if along else function


@call_p.def_impl
def _eagerly(*arrays: Any, function: CarefulPath, along: bool) -> Any:
    name = f"jax, along {along}"
    if name not in function.others:
        bound = partial(call_p.bind, function=function, along=along)
        function.others.setdefault(name, jax.jit(bound))
    return function.others[name](*arrays)


@call_p.def_abstract_eval
def _shapes(*arrays: Any, function: CarefulPath, along: bool) -> list[Any]:
    path, first = called(function, along), arrays[0]
    batch = first.shape[: len(first.shape) - len(path.takes[0])]
    return [jax.core.ShapedArray((*batch, *shape), first.dtype) for shape in path.shapes]


def _vmap(
    arrays: Sequence[Any], dims: Sequence[int | None], *, function: CarefulPath, along: bool
) -> tuple[Any, Any]:
    """One batch axis more, the first."""
    size = next(
        array.shape[dim] for array, dim in zip(arrays, dims, strict=True) if dim is not None
    )
    moved = [
        jnp.broadcast_to(array, (size, *array.shape))
        if dim is None
        else jnp.moveaxis(array, dim, 0)
        for array, dim in zip(arrays, dims, strict=True)
    ]
    found = call_p.bind(*moved, function=function, along=along)
    return found, [0] * len(found)


def _jvp(
    arrays: Sequence[Any], tangents: Sequence[Any], *, function: CarefulPath, along: bool
) -> tuple[Any, Any]:
    found = call_p.bind(*arrays, function=function, along=along)
    moved = map(ad.instantiate_zeros, tangents)
    path = called(function, along)
    return found, call_p.bind(*arrays, *moved, function=path, along=True)


def _transpose(
    cotangents: Sequence[Any], *arrays: Any, function: CarefulPath, along: bool
) -> list[Any]:
    """Of a direction's cotangents: those of the arguments, weighted by the results'."""
    count = len(function.takes)
    at, directions = arrays[:count], arrays[count:]
    assert along and not any(map(ad.is_undefined_primal, at))
    weights = map(ad.instantiate_zeros, cotangents)
    path = differentiated(function, "vjp")
    found = call_p.bind(*at, *weights, function=path, along=False)
    asked = map(ad.is_undefined_primal, directions)
    return [None] * count + [x if wanted else None for x, wanted in zip(found, asked, strict=True)]


batching.primitive_batchers[call_p] = _vmap
ad.primitive_jvps[call_p] = _jvp
ad.primitive_transposes[call_p] = _transpose


# Machine code -------------------------------------------------------------------------------


Handler = xla.OnCPU | xla.OnGPU
# By what XLA calls the platform: what makes the handler of a function, for a type and a kernel.
HANDLERS: dict[str, Callable[[CarefulPath, str, str], Handler]] = {
    "cpu": xla.OnCPU,
    "CUDA": lambda path, dtype, _: xla.OnGPU(path, dtype),  # whose one kernel takes any number
}
_made: dict[str, Handler] = {}  # for good: XLA forgets no handler
_making = forks.free_in_children(threading.RLock())


def _lower(platform: str, context: Any, *operands: Any, function: CarefulPath, along: bool) -> Any:
    path, first = called(function, along), context.avals_in[0]
    kind = "batch"  # where the number of states is not known yet
    if platform == "cpu" and all(isinstance(length, int) for length in first.shape):
        kind = path.kind(math.prod(first.shape) // math.prod(path.takes[0]), first.dtype)
    name = target(path, first.dtype.name, platform, kind)
    return jax.ffi.ffi_lowering(name)(context, *operands)


def target(path: CarefulPath, dtype: str, platform: str, kind: str) -> str:
    """The name under which XLA finds the handler of a function."""
    name = f"armdyn_{key(path, dtype, platform, kind)}"
    with _making:
        if name not in _made:
            made = HANDLERS[platform](path, dtype, kind)
            capsule = jax.ffi.pycapsule(cast(made.address, xla.HANDLER))
            jax.ffi.register_ffi_target(name, capsule, platform=platform)
            _made[name] = made
    return name


mlir.register_lowering(call_p, partial(_lower, "cpu"), platform="cpu")
mlir.register_lowering(call_p, partial(_lower, "CUDA"), platform="cuda")
