"""adam's formulas, in C by CasADi's generator: the strongest route that packages alone offer."""

from __future__ import annotations

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
