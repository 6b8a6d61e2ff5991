"""For the tests of the call path: kernels of small polynomials, and functions made of them.

The kernels are written in LLVM's language. Entry e of result r is the sum over arguments a of
x_a[(e + r) % n_a] x_a[(e + a + 1) % n_a], in that order and without fma, so that NumPy gives the
same bits; n_a is how many numbers argument a has.
"""

import math

import llvmlite.binding as llvm
import numpy as np
import pytest

from armdyn.engine import calls

llvm.initialize_native_target()
llvm.initialize_native_asmprinter()

BATCH = """
define void @batch(ptr %in, ptr %out, i64 %given) {{
start:
  %minus = sub i64 0, %given
  %count = call i64 @llvm.smax.i64(i64 %given, i64 %minus)
{allocate}  br label %test
test:
  %i = phi i64 [0, %start], [%next, %body]
  %more = icmp slt i64 %i, %count
  br i1 %more, label %body, label %end
body:
{shift}  call void @single(ptr %in_i, ptr %out_i)
  %next = add i64 %i, 1
  br label %test
end:
  ret void
}}
declare i64 @llvm.smax.i64(i64, i64)
"""
SPIN = """
define void @batch(ptr %in, ptr %out, i64 %count) {
start:
  %q = load ptr, ptr %in
  %result = load ptr, ptr %out
  br label %loop
loop:
  %i = phi i64 [0, %start], [%next, %loop]
  %seen = load volatile double, ptr %q
  %next = add i64 %i, 1
  %found = fcmp one double %seen, 0.0
  %tired = icmp eq i64 %next, 3000000000
  %over = or i1 %found, %tired
  br i1 %over, label %end, label %loop
end:
  store double %seen, ptr %result
  ret void
}
"""


class Polynomials:
    """Compiles the kernels of one function, and keeps a record of what was asked for."""

    def __init__(self, arguments=2, n=3, shapes=((3, 3), ()), text=None, takes=None):
        self.takes = takes or ((n,),) * arguments
        self.sizes = [math.prod(shape) for shape in self.takes]
        self.arguments, self.shapes = len(self.takes), shapes
        self.text = text
        self.asked = []
        self.engines = []

    def __call__(self, kind, dtype):
        self.asked.append((kind, dtype))
        text = self.text or single(self, dtype) + batch(self, dtype)
        machine = llvm.Target.from_default_triple().create_target_machine()
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(text), machine)
        engine.finalize_object()
        self.engines.append(engine)
        return engine.get_function_address("batch" if kind == "stream" else kind)

    def expected(self, *values):
        """The results by NumPy, from arrays of one dtype."""
        batches = [x.shape[: x.ndim - len(s)] for x, s in zip(values, self.takes, strict=True)]
        batch = np.broadcast_shapes(*batches)
        rows = [
            np.broadcast_to(x, batch + s).reshape(*batch, n)
            for x, s, n in zip(values, self.takes, self.sizes, strict=True)
        ]
        results = []
        for r, shape in enumerate(self.shapes):
            entries = []
            for e in range(math.prod(shape)):
                total = rows[0].dtype.type(0)
                for a, x in enumerate(rows):
                    n = self.sizes[a]
                    total = total + x[..., (e + r) % n] * x[..., (e + a + 1) % n]
                entries.append(total)
            results.append(np.stack(entries, axis=-1).reshape(batch + shape))
        return tuple(results) if len(results) > 1 else results[0]


def single(function, dtype):
    kind = "double" if dtype == "float64" else "float"
    lines = ["define void @single(ptr %in, ptr %out) {"]
    for a in range(function.arguments):
        lines += [
            f"%at{a} = getelementptr ptr, ptr %in, i64 {a}",
            f"%base{a} = load ptr, ptr %at{a}",
        ]
        for i in range(function.sizes[a]):
            lines += [
                f"%p{a}.{i} = getelementptr {kind}, ptr %base{a}, i64 {i}",
                f"%x{a}.{i} = load {kind}, ptr %p{a}.{i}",
            ]
    for r, shape in enumerate(function.shapes):
        lines += [f"%to{r} = getelementptr ptr, ptr %out, i64 {r}", f"%y{r} = load ptr, ptr %to{r}"]
        for e in range(math.prod(shape)):
            total = "0.0"
            for a in range(function.arguments):
                here = f"{r}.{e}.{a}"
                n = function.sizes[a]
                i, j = (e + r) % n, (e + a + 1) % n
                lines += [
                    f"%m{here} = fmul {kind} %x{a}.{i}, %x{a}.{j}",
                    f"%s{here} = fadd {kind} {total}, %m{here}",
                ]
                total = f"%s{here}"
            lines += [
                f"%z{r}.{e} = getelementptr {kind}, ptr %y{r}, i64 {e}",
                f"store {kind} {total}, ptr %z{r}.{e}",
            ]
    return "\n".join([*lines, "ret void", "}"])


def batch(function, dtype):
    kind = "double" if dtype == "float64" else "float"
    sizes = {
        "in": function.sizes,
        "out": [math.prod(shape) for shape in function.shapes],
    }
    allocate, shift = "", ""
    for side, numbers in sizes.items():
        allocate += f"  %{side}_i = alloca [{len(numbers)} x ptr]\n"
        for k, size in enumerate(numbers):
            name = f"{side}{k}"
            shift += (
                f"  %at_{name} = getelementptr ptr, ptr %{side}, i64 {k}\n"
                f"  %base_{name} = load ptr, ptr %at_{name}\n"
                f"  %offset_{name} = mul i64 %i, {size}\n"
                f"  %row_{name} = getelementptr {kind}, ptr %base_{name}, i64 %offset_{name}\n"
                f"  %slot_{name} = getelementptr ptr, ptr %{side}_i, i64 {k}\n"
                f"  store ptr %row_{name}, ptr %slot_{name}\n"
            )
    return BATCH.format(allocate=allocate, shift=shift)


# Functions of these kernels, and what to call them with ------------------------------------------

N = 3
FRONTS = [
    pytest.param(
        calls.front_in_c,
        id="c",
        marks=pytest.mark.skipif(not calls.EXTENSION, reason="the C extension is not built"),
    ),
    pytest.param(calls.front_in_python, id="python"),
]


NAMES = ("q", "qd", "qdd", "tau", *(f"x{k}" for k in range(12)))


def arguments_of(polynomials):
    given = zip(NAMES, polynomials.takes, strict=False)
    return {name: calls.Argument(shape) for name, shape in given}


def function(front, polynomials, options=None):
    taken = arguments_of(polynomials)
    return front(calls.CarefulPath("fused", taken, polynomials.shapes, polynomials, options))


def states(*batch, arguments=2, dtype=np.float64, seed=0):
    return list(np.random.default_rng(seed).normal(size=(arguments, *batch, N)).astype(dtype))


def assert_same_bits(found, expected):
    found, expected = np.asarray(found), np.asarray(expected)
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


def misaligned(x):
    raw = np.empty(x.nbytes + 1, np.uint8)[1:]
    copy = raw.view(x.dtype).reshape(x.shape)
    copy[...] = x
    assert not (copy.size and copy.flags.aligned)
    return copy


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


class Exporter:
    """What other libraries' arrays look like."""

    def __init__(self, array):
        self.array = array

    def __array__(self, dtype=None, copy=None):
        return self.array


LAYOUTS = {
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.tolist()),
    "Fortran": np.asfortranarray,
    "strided": lambda x: np.stack([x, x], axis=-1)[..., 0],
    "backwards": lambda x: np.flip(np.flip(x).copy()),
    "misaligned": misaligned,
    "byte-swapped": lambda x: x.astype(x.dtype.newbyteorder()),
    "read-only": read_only,
    "subclass": lambda x: x.view(type("Sub", (np.ndarray,), {})),
    "masked": np.ma.asarray,
    "another library's": Exporter,
    "memory": lambda x: memoryview(x),
}
OUT_LAYOUTS = {
    "transposed": lambda shape, dtype=float: np.zeros(shape[::-1], dtype).T,
    "strided": lambda shape, dtype=float: np.zeros((*shape, 2), dtype)[..., 0],
    "interleaved": lambda shape, dtype=float: np.moveaxis(
        np.zeros((*shape[:1], 2, *shape[1:]), dtype), 1 if shape else 0, 0
    )[1, ...],
    "backwards": lambda shape, dtype=float: np.zeros(shape, dtype)[
        (*[slice(None, None, -1)] * len(shape), ...)
    ],
    "misaligned": lambda shape, dtype=float: misaligned(np.zeros(shape, dtype)),
    "subclass": lambda shape, dtype=float: np.zeros(shape, dtype).view(
        type("Sub", (np.ndarray,), {})
    ),
}
