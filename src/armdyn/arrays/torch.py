"""torch: tensors in, tensors out, with their gradients.

Tensors on the CPU share their memory with NumPy, so the call is NumPy's. Gradients are
compiled functions too, and differentiable in turn: see ``Tracked`` and ``Transformed``. Where
torch traces (``torch.compile``, ``torch.export``, tensors without numbers) the call becomes the
operator ``armdyn::call``, which torch does not look into.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor, from_numpy
from torch.autograd import forward_ad

from armdyn.arrays import check_devices, cuda, key
from armdyn.engine.calls import EXTENSION, CarefulPath
from armdyn.engine.differentiated import differentiated
from armdyn.errors import ArmdynError, ShapeError, shorten

PLAIN = (Tensor, torch.nn.Parameter)  # all else overrides what torch's functions do
NARROW, WIDE = torch.float32, torch.float64


if EXTENSION:
    from armdyn.engine import _call


def _always() -> bool:
    return True


# Whether vmap, grad, jvp ... of torch.func are about; if torch does not tell, they may be.
transforming: Callable[[], bool] = getattr(torch._C, "_are_functorch_transforms_active", _always)


def transformed() -> bool:
    """Whether torch may compute more with a call than its results, forward or by torch.func."""
    return forward_ad._current_level >= 0 or transforming()


def traced(tensors: Sequence[Tensor]) -> bool:
    """Whether torch wants to know what is done, and the tensors may have no numbers."""
    return tensors[0].is_meta or any(type(tensor) not in PLAIN for tensor in tensors)


def tracked(tensors: Sequence[Tensor]) -> bool:
    """Whether torch keeps what it needs to go backward."""
    return torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors)


# torch's table of functions in C, by which calls on plain tensors take less than half the time; it
# has one since 2.10.
API = getattr(Tensor, "__dlpack_c_exchange_api__", None)
exchanged = _call.exchanged if EXTENSION and API is not None else None


def call(path: CarefulPath, values: Sequence[Tensor], out: Any, threads: int | None) -> Any:
    """The results of a call on tensors."""
    if out is None and not transformed():
        if exchanged is not None and threads is None and type(values[0]) in PLAIN:
            if values[0].is_cuda:
                found = _call.launched(path.front(), API, values, cuda.kernel(path))
            else:
                found = exchanged(path.front(), API, values)
            if found is not NotImplemented:
                return found
        try:
            elsewhere = values[0].is_cuda or tracked(values)
            arrays = None if elsewhere else [value.numpy() for value in values]
        except (RuntimeError, TypeError):  # a subclass, a type that NumPy lacks
            arrays = None
        if arrays is not None:
            found = (path.front() or path)(*arrays, threads=threads)
            if type(found) is np.ndarray:
                return from_numpy(found)
            return tuple(map(as_tensor, found)) if type(found) is tuple else as_tensor(found)
    check_devices(path.arguments, [value.device for value in values])
    if out is not None:
        return into(path, values, out, threads)
    return differentiable(path, values, threads)


def as_tensor(array: np.ndarray | np.generic) -> Tensor:
    """A result as a tensor; a single number has no memory that could be shared."""
    return from_numpy(array if type(array) is np.ndarray else np.array(array))


def like(value: Any, example: Tensor) -> Tensor:
    """A list or number as a tensor of the same kind as another."""
    try:
        dtype = example.dtype if example.dtype.is_floating_point else WIDE
        with torch.inference_mode(False):  # it may be kept, and needed for a gradient later
            return torch.tensor(value, dtype=dtype, device=example.device)
    except (TypeError, ValueError):
        raise ShapeError(f"{shorten(value)} is no array of real numbers") from None


def on_host(value: Tensor) -> np.ndarray | None:
    """A tensor's numbers, if it has some."""
    return readable(value.detach().cpu()) if has_numbers(value) else None


def has_numbers(value: Tensor) -> bool:
    """Whether a tensor stands for numbers of its own."""
    return type(value) in PLAIN and not value.is_meta and not transforming()


def of_numpy(array: np.ndarray, example: Tensor) -> Tensor:
    """NumPy's array as a tensor where another one lies; on the CPU they share their memory."""
    return as_tensor(array).to(example.device)


def device(value: Tensor) -> torch.device:
    """Where a tensor lies."""
    return value.device


def readable(tensor: Tensor) -> np.ndarray:
    """The memory of a tensor without a gradient, on the CPU."""
    if tensor.dtype is torch.bfloat16:  # which NumPy does not have
        tensor = tensor.to(NARROW)
    return tensor.detach().resolve_neg().numpy()


def into(path: CarefulPath, values: Sequence[Tensor], out: Any, threads: int | None) -> Any:
    """The results of a call, in tensors that were given for them."""
    targets = out if isinstance(out, tuple) else (out,)
    for target in targets:
        if not isinstance(target, Tensor):
            raise ShapeError(f"out is {shorten(target)}; expected a tensor, as the arguments are")
        if target.device != values[0].device:
            raise ShapeError(
                f"out is on {target.device}, {path.arguments[0]} is on {values[0].device}; "
                "expected arrays on one device"
            )
        if target.dtype not in (NARROW, torch.float64) or target.is_neg():
            raise ShapeError(
                f"out is {target.dtype}{' with its sign put off' * target.is_neg()}; expected "
                "float32 or float64, as it lies in memory"
            )
    if len(targets) != len(path.shapes):
        raise ShapeError(f"out has {len(targets)} tensors; expected {len(path.shapes)}")
    if tracked((*values, *targets)):
        raise ShapeError("out is given and an argument requires its gradient; expected no out")
    if values[0].device.type != "cpu" or not {*map(type, (*values, *targets))} <= {*PLAIN}:
        found = differentiable(path, values, threads)
        for target, result in zip(
            targets, found if type(found) is tuple else (found,), strict=True
        ):
            if target.shape != result.shape or target.dtype != result.dtype:
                raise ShapeError(
                    f"out is {target.dtype} {tuple(target.shape)}; expected {result.dtype} "
                    f"{tuple(result.shape)}"
                )
            target.copy_(result)
        return out
    memory = tuple(readable(target) for target in targets)
    path.quickest(
        *map(readable, values), out=memory if isinstance(out, tuple) else memory[0], threads=threads
    )
    return out


# Gradients ----------------------------------------------------------------------------------


def differentiable(path: CarefulPath, values: Sequence[Tensor], threads: int | None) -> Any:
    """The results of a call, by way of what torch differentiates, maps and traces."""
    tensors = alike(path, values)
    if traced(tensors):
        found = tuple(torch.ops.armdyn.call(name_of(path), tensors))
    elif transformed():
        found = Transformed.apply(path, threads, *tensors)
    elif tracked(tensors):
        found = Tracked.apply(path, threads, *tensors)
    else:
        found = compute(path, tensors, threads)
    return found if len(path.shapes) > 1 else found[0]


def alike(path: CarefulPath, values: Sequence[Tensor]) -> list[Tensor]:
    """The arguments, all of one type and broadcast to the same batch."""
    types = [value.dtype for value in values]
    for name, found in zip(path.arguments, types, strict=True):
        if found not in (WIDE, NARROW) and (found.is_complex or found is torch.bool):
            raise ShapeError(
                f"{name} has dtype {found}; expected real numbers (float64, float32 or integers)"
            )
    dtype = NARROW if all(found is NARROW for found in types) else WIDE
    shapes = [tuple(value.shape) for value in values]
    batch = path.batch(shapes, torch.broadcast_shapes)
    tensors = []
    for k, value in enumerate(values):
        whole = (*batch, *path.takes[k])
        typed = value if types[k] is dtype else value.to(dtype)
        tensors.append(typed if shapes[k] == whole else typed.expand(whole))
    return tensors


def compute(
    path: CarefulPath, tensors: Sequence[Tensor], threads: int | None = None
) -> tuple[Tensor, ...]:
    """The results of a call on tensors that are alike, without gradients."""
    first = tensors[0]
    if traced(tensors):  # below a transformation
        return tuple(torch.ops.armdyn.call(name_of(path), list(tensors)))
    if first.is_cuda:
        return launch(path, tensors)
    if not first.is_cpu:
        raise ShapeError(f"{path.arguments[0]} is on {first.device}; expected cpu or cuda")
    found = path.quickest(*map(readable, tensors), threads=threads)
    return tuple(map(as_tensor, found)) if type(found) is tuple else (as_tensor(found),)


def backward(ctx: Any, *cotangents: Tensor) -> tuple[Tensor | None, ...]:
    """The cotangents of a call's arguments."""
    derivative = differentiated(ctx.path, "vjp")
    return (None, None, *several(derivative, (*ctx.saved_tensors, *cotangents), ctx.threads))


class Tracked(torch.autograd.Function):
    """A call that can be gone through backward, in the way that costs least. Tensors are alike."""

    @staticmethod
    def forward(ctx: Any, path: CarefulPath, threads: int | None, *tensors: Tensor) -> Any:
        """The results."""
        ctx.path, ctx.threads = path, threads
        ctx.save_for_backward(*tensors)
        return compute(path, tensors, threads)

    backward = staticmethod(backward)


class Transformed(torch.autograd.Function):
    """A call for torch.func and for forward mode. Its tensors are alike."""

    @staticmethod
    def forward(path: CarefulPath, threads: int | None, *tensors: Tensor) -> tuple[Tensor, ...]:
        """The results."""
        return compute(path, tensors, threads)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        """Keep what derivatives are taken at."""
        ctx.path, ctx.threads, *tensors = inputs
        ctx.save_for_backward(*tensors)
        ctx.save_for_forward(*tensors)

    backward = staticmethod(backward)

    @staticmethod
    def jvp(ctx: Any, *tangents: Tensor | None) -> Any:
        """The tangents of the results."""
        given = zip(tangents[2:], ctx.saved_tensors, strict=True)
        moved = [torch.zeros_like(x) if tangent is None else tangent for tangent, x in given]
        return several(differentiated(ctx.path, "jvp"), (*ctx.saved_tensors, *moved), ctx.threads)

    @staticmethod
    def vmap(
        info: Any,
        dims: tuple[int | None, ...],
        path: CarefulPath,
        threads: int | None,
        *tensors: Tensor,
    ) -> tuple[Any, Any]:
        """One batch axis more, the first."""
        moved = in_front(tensors, dims[2:], info.batch_size)
        return Transformed.apply(path, threads, *moved), (0,) * len(path.shapes)


def several(path: CarefulPath, tensors: Sequence[Tensor], threads: int | None) -> tuple[Any, ...]:
    """The results of a derivative, always as a tuple."""
    found = differentiable(path, tensors, threads)
    return found if isinstance(found, tuple) else (found,)


def in_front(tensors: Sequence[Tensor], dims: Sequence[int | None], size: int) -> list[Tensor]:
    """The tensors with the axis that is mapped over in front, where there is one or not."""
    return [
        tensor.expand((size, *tensor.shape)) if dim is None else tensor.movedim(dim, 0)
        for tensor, dim in zip(tensors, dims, strict=True)
    ]


# Where torch traces -------------------------------------------------------------------------

_paths: dict[str, weakref.WeakSet[CarefulPath]] = {}  # that do the same, by their name


def name_of(path: CarefulPath) -> str:
    """A name under which the operator finds the function, the same in every process."""
    found = path.others.get("torch")
    if found is None:
        found = path.others["torch"] = f"{path.name} {key(path)}"
    _paths.setdefault(found, weakref.WeakSet()).add(path)
    return found


def named(function: str) -> CarefulPath:
    """The function of that name."""
    path = next(iter(_paths.get(function, ())), None)
    if path is None:
        raise ArmdynError(
            f"armdyn::call of {function}, which this process does not have; expected a robot with "
            "that function, called before"
        )
    return path


@torch.library.custom_op(
    "armdyn::call", mutates_args=(), schema="(str function, Tensor[] tensors) -> Tensor[]"
)
def operator(function: str, tensors: Sequence[Tensor]) -> list[Tensor]:
    """A call as an operator of torch: of tensors that are alike."""
    return list(compute(named(function), tensors))


@operator.register_fake
def _fake(function: str, tensors: Sequence[Tensor]) -> list[Tensor]:
    path = named(function)
    batch = tensors[0].shape[: tensors[0].ndim - len(path.takes[0])]
    return [tensors[0].new_empty((*batch, *shape)) for shape in path.shapes]


def _keep(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.function, tensors = inputs
    ctx.save_for_backward(*tensors)


def _backward(ctx: Any, cotangents: Sequence[Tensor]) -> tuple[None, list[Tensor]]:
    path = differentiated(named(ctx.function), "vjp")
    given = list(cotangents)
    return None, torch.ops.armdyn.call(name_of(path), [*ctx.saved_tensors, *given])


operator.register_autograd(_backward, setup_context=_keep)


@operator.register_vmap
def _vmap(info: Any, in_dims: Any, function: str, tensors: Sequence[Tensor]) -> tuple[Any, Any]:
    moved = in_front(tensors, in_dims[1], info.batch_size)
    found = torch.ops.armdyn.call(function, moved)
    return found, [0] * len(found)


# On a GPU -----------------------------------------------------------------------------------


def launch(path: CarefulPath, tensors: Sequence[Tensor]) -> tuple[Tensor, ...]:
    """The results of a call on tensors that are alike, on their GPU and its current stream."""
    first = tensors[0]
    if exchanged is not None:
        plain = tuple([tensor.detach() for tensor in tensors])
        found = _call.launched(path.front(), API, plain, cuda.kernel(path))
        if found is not NotImplemented:
            return found if type(found) is tuple else (found,)
    kernel = cuda.ready(path)
    batch = first.shape[: first.ndim - len(path.takes[0])]
    results = tuple(first.new_empty((*batch, *shape)) for shape in path.shapes)
    if not batch.numel():
        return results
    rows = []
    for tensor, shape in zip(tensors, path.takes, strict=True):
        if batch and not any(tensor.stride()[: len(batch)]):  # one row for all
            rows.append((tensor[(0,) * len(batch)].resolve_neg().contiguous(), 0))
        else:
            rows.append((tensor.resolve_neg().contiguous(), math.prod(shape)))
    kernel.launch(
        [(tensor.data_ptr(), step) for tensor, step in rows],
        [result.data_ptr() for result in results],
        batch.numel(),
        "float32" if first.dtype is NARROW else "float64",
        first.device.index,
        current_stream(first.device.index),
    )
    return results


class Memory(cuda.Memory):
    """The memory of a GPU that torch hands out, on its current stream."""

    names = torch

    def __init__(self, device: torch.device) -> None:
        self.device, self.number = device, device.index

    @property
    def stream(self) -> int:
        """That is current now."""
        return current_stream(self.number)

    def empty(self, shape: Sequence[int], dtype: str) -> Tensor:
        """A new tensor."""
        return torch.empty(tuple(shape), dtype=getattr(torch, dtype), device=self.device)

    def rows(self, value: Tensor, shape: Sequence[int], dtype: str) -> Tensor:
        """A tensor, broadcast to a shape, as plain memory in C order."""
        typed = value.detach().resolve_neg().to(getattr(torch, dtype))
        return typed.expand(tuple(shape)).contiguous()

    def send(self, array: np.ndarray) -> Tensor:
        """A copy of NumPy's array."""
        return from_numpy(np.array(array)).to(self.device)

    def address(self, array: Tensor) -> int:
        """Where a tensor begins."""
        return array.data_ptr()


def memory(value: Tensor) -> Memory | None:
    """How to work where a tensor lies, if that is a GPU."""
    if value.device.type not in ("cpu", "cuda"):
        raise ShapeError(f"a tensor is on {value.device}; expected cpu or cuda")
    return Memory(value.device) if value.is_cuda else None


def current_stream(device: int) -> int:
    """The handle of a GPU's current stream, in a way that takes no 7 us where torch has one."""
    raw = getattr(torch._C, "_cuda_getCurrentRawStream", None)
    return raw(device) if raw else torch.cuda.current_stream(device).cuda_stream
