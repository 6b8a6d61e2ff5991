"""adam's formulas, in C by CasADi's generator: the strongest route that packages alone offer.

For batches the same text is also compiled with a vector of states in place of a number.
"""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from armdyn.chain import Chain
from benchmarks.arms import QUANTITIES, urdf
from benchmarks.peer import Peer
from benchmarks.timing import Call, quickest


class CasADi(Peer):
    """adam's formulas as C by CasADi's generator, compiled by gcc, called through its buffers.

    adam knows free-floating trees: the base is held by taking the joints' block of M and of the
    bias. It has no accelerations in its Newton-Euler, so inverse dynamics is M qdd + bias, and
    forward dynamics a symbolic L D L^T solution.
    """

    name = "casadi"
    needs = ("casadi", "adam.casadi")
    distributions = ("casadi", "adam-robotics")
    flags = ("-O2", "-O3")

    def __init__(self, chain: Chain, build: Path) -> None:
        super().__init__(chain, build)
        import casadi

        self.casadi = casadi
        self._alive: list[Any] = []
        source = build / f"{chain.name}.c"
        self.libraries = [build / f"{chain.name}{flag}.so" for flag in self.flags]
        for flag, library in zip(self.flags, self.libraries, strict=True):
            if not library.exists():
                if not source.exists():
                    self._generate(source)
                options = [flag, "-march=native", "-shared", "-fPIC"]
                subprocess.run(["gcc", *options, source, "-o", library, "-lm"], check=True)

    def _generate(self, source: Path) -> None:
        from adam.casadi import KinDynComputations

        ca = self.casadi
        names = [joint.name for joint in self.chain.joints]
        gravity = np.array([*self.chain.gravity, 0, 0, 0])
        adam = KinDynComputations(urdf(self.chain), names, gravity=gravity)
        q, qd, last = (ca.SX.sym(name, self.n) for name in ("q", "qd", "last"))
        base, rest = ca.DM.eye(4), ca.DM.zeros(6)
        M = adam.mass_matrix_fun()(base, q)[6:, 6:]
        bias = adam.bias_force_fun()(base, q, rest, qd)[6:]
        results = {
            "mass_matrix": M,
            "bias": bias,
            "inverse_dynamics": M @ last + bias,
            "forward_dynamics": ca.ldl_solve(last - bias, *ca.ldl(M)),
        }
        generator = ca.CodeGenerator(source.name)
        for name, arguments in QUANTITIES.items():
            inputs = [q, qd, last][: len(arguments)]
            generator.add(ca.Function(name, inputs, [ca.densify(results[name])], {"cse": True}))
        generator.generate(f"{source.parent}/")

    def single(self, quantity: str, *state: np.ndarray) -> Call:
        return quickest([self._copied(quantity, f, state) for f in self._compiled(quantity)])

    def in_place(self, quantity: str, *state: np.ndarray) -> Call:
        """The states stand where the compiled code reads them: nothing is copied."""
        return quickest([self._in_place(quantity, f, state) for f in self._compiled(quantity)])

    def batch(self, quantity: str, *state: np.ndarray, threads: int) -> Call:
        count = len(state[0])
        how = (count, "thread", threads) if threads > 1 else (count,)
        return quickest(
            [self._in_place(quantity, f.map(*how), state) for f in self._compiled(quantity)]
        )

    def _compiled(self, quantity: str) -> list[Any]:
        return [self.casadi.external(quantity, str(library)) for library in self.libraries]

    def _buffer(
        self, quantity: str, function: Any, state: tuple[np.ndarray, ...]
    ) -> tuple[Callable[[], None], list[np.ndarray], np.ndarray]:
        """Evaluates from fixed memory to fixed memory: the evaluation, its inputs, its result."""
        buffer, evaluate = function.buffer()
        inputs = [array.copy() for array in state]
        result = self.room(quantity, *state)  # it writes columns, but M is symmetric
        for k, array in enumerate(inputs):
            buffer.set_arg(k, memoryview(array))
        buffer.set_res(0, memoryview(result))
        self._alive.append((function, buffer, inputs))  # the evaluation does not keep them
        return evaluate, inputs, result

    def _in_place(self, quantity: str, function: Any, state: tuple[np.ndarray, ...]) -> Call:
        evaluate, _, result = self._buffer(quantity, function, state)
        return Call(evaluate, states=state[0].size // self.n, leaves=result)

    def _copied(self, quantity: str, function: Any, state: tuple[np.ndarray, ...]) -> Call:
        """Copies a state in and the result out."""
        evaluate, inputs, result = self._buffer(quantity, function, state)
        a, b, c = (*inputs, None, None)[:3]

        def of_one(q: np.ndarray) -> np.ndarray:
            a[...] = q
            evaluate()
            return result.copy()

        def of_two(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
            a[...] = q
            b[...] = qd
            evaluate()
            return result.copy()

        def of_three(q: np.ndarray, qd: np.ndarray, last: np.ndarray) -> np.ndarray:
            a[...] = q
            b[...] = qd
            c[...] = last
            evaluate()
            return result.copy()

        return Call((of_one, of_two, of_three)[len(state) - 1], state)


LANES = """
// A number of CasADi's text as a vector of states.
#include <immintrin.h>
#include <cmath>
#define WIDTH {width}
typedef double Vector __attribute__((vector_size(8 * WIDTH)));
extern "C" Vector {prefix}_sin(Vector);
extern "C" Vector {prefix}_cos(Vector);
struct Lanes {{
    Vector v;
    Lanes() {{}}
    Lanes(Vector x) : v(x) {{}}
    Lanes(double x) : v(x - Vector{{}}) {{}}
}};
static inline Lanes operator+(Lanes a, Lanes b) {{ return Lanes(a.v + b.v); }}
static inline Lanes operator-(Lanes a, Lanes b) {{ return Lanes(a.v - b.v); }}
static inline Lanes operator*(Lanes a, Lanes b) {{ return Lanes(a.v * b.v); }}
static inline Lanes operator/(Lanes a, Lanes b) {{ return Lanes(a.v / b.v); }}
static inline Lanes operator-(Lanes a) {{ return Lanes(-a.v); }}
static inline Lanes sin(Lanes a) {{ return Lanes({prefix}_sin(a.v)); }}
static inline Lanes cos(Lanes a) {{ return Lanes({prefix}_cos(a.v)); }}
#define casadi_real Lanes
"""
EACH = """
extern "C" void {name}_lanes(const Lanes *const *in, Lanes *const *out, long blocks) {{
    const Lanes *arg[8];
    Lanes *res[8];
    static Lanes work[65536];
    for (long i = 0; i < blocks; i++) {{
        for (int k = 0; k < {inputs}; k++)
            arg[k] = in[k] + {n} * i;
        res[0] = out[0] + {size} * i;
        {name}(arg, res, 0, work, 0);
    }}
}}
"""


class CasADiLanes(CasADi):
    """The same text in vector lanes, by g++ with libmvec's sines, on states lane by lane.

    Its arrays are (blocks, numbers, lanes), as it likes them best; nothing is turned or copied.
    """

    name = "casadi in lanes"

    def __init__(self, chain: Chain, build: Path) -> None:
        super().__init__(chain, build)
        wide = "avx512f" in Path("/proc/cpuinfo").read_text()
        self.width, prefix = (8, "_ZGVeN8v") if wide else (4, "_ZGVdN4v")
        n = self.n
        text = (
            LANES.format(width=self.width, prefix=prefix) + (build / f"{chain.name}.c").read_text()
        )
        for name, arguments in QUANTITIES.items():
            size = n * n if name == "mass_matrix" else n
            text += EACH.format(name=name, inputs=len(arguments), n=n, size=size)
        source = build / f"{chain.name}_lanes.cpp"
        source.write_text(text)
        self.in_lanes = [build / f"{chain.name}{flag}_lanes.so" for flag in self.flags]
        for flag, library in zip(self.flags, self.in_lanes, strict=True):
            if not library.exists():
                options = [flag, "-march=native", "-w", "-shared", "-fPIC"]
                subprocess.run(
                    ["g++", *options, source, "-o", library, "-lmvec", "-lm"], check=True
                )

    def single(self, quantity: str, *state: np.ndarray) -> Call | None:  # type: ignore[override]
        return None

    def in_place(self, quantity: str, *state: np.ndarray) -> Call | None:  # type: ignore[override]
        return None

    def batch(self, quantity: str, *state: np.ndarray, threads: int) -> Call | None:  # type: ignore[override]
        count = len(state[0])
        if threads > 1 or count % self.width:
            return None
        return quickest([self._lanes(library, quantity, state) for library in self.in_lanes])

    def _lanes(self, library: Path, quantity: str, state: tuple[np.ndarray, ...]) -> Call:
        blocks, width = len(state[0]) // self.width, self.width
        size = self.n**2 if quantity == "mass_matrix" else self.n
        inputs = [_aligned((blocks, self.n, width)) for _ in state]
        for lanes, array in zip(inputs, state, strict=True):
            lanes[...] = array.reshape(blocks, width, self.n).swapaxes(1, 2)
        result = _aligned((blocks, size, width))
        function = getattr(ctypes.CDLL(str(library)), f"{quantity}_lanes")
        pointers = [
            (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
            for arrays in (inputs, [result])
        ]
        given = (*pointers, ctypes.c_long(blocks))
        self._alive.append((inputs, result))
        return Call(function, given, states=blocks * width, leaves=result.swapaxes(1, 2))


def _aligned(shape: tuple[int, ...]) -> np.ndarray:
    """Zeros that begin with a line of the cache."""
    memory = np.zeros(int(np.prod(shape)) + 8)
    first = -memory.ctypes.data % 64 // 8
    return memory[first : first + int(np.prod(shape))].reshape(shape)
