"""Derivatives of the dynamics against Pinocchio's: ``python -m benchmarks.derivatives``.

Kernels are called in a loop from C++, armdyn's compiled code and Pinocchio's functions alike, where
there is a compiler and the headers of Pinocchio and Eigen are installed (the ``pin`` and ``casadi``
wheels bring them); else Pinocchio is called from Python, and the table says so. Batches are
armdyn's on one thread, against Pinocchio's calls one by one. The least time of many short rounds is
taken, in turns, for others use the machine too.
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from importlib import util
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from armdyn import Chain, Robot
from armdyn.chain.pose import Pose
from armdyn.engine import Compilation
from armdyn.quantities.tasks import Task, cheapest, program_cost
from benchmarks.arms import ARMS, arm, states

SOURCE = Path(__file__).with_suffix(".cpp")
WANTED = {  # how many times quicker than Pinocchio a kernel is to be
    "inverse_dynamics_derivatives": {
        "panda": 10,
        "ur5": 13,
        "puma560": 12,
        "n = 12": 3,
        "n = 30": 3,
    },
    "forward_dynamics_derivatives": {"panda": 6, "ur5": 11, "puma560": 11},
}
BATCH = 4096
ROUND_S = 2e-3


class Row(NamedTuple):
    """A quantity of an arm: nanoseconds a state."""

    arm: str
    quantity: str
    method: str
    operations: int
    kernel: float
    batch: float
    peer: float
    wanted: float | None


# The other side ----------------------------------------------------------------------------------


def build(folder: Path) -> ctypes.CDLL | None:
    """The library that calls both from C++; None where it cannot be built."""
    found = util.find_spec("pinocchio")
    if found is None or found.origin is None:
        return None
    prefix = next((p for p in Path(found.origin).parents if p.name == "cmeel.prefix"), None)
    casadi = util.find_spec("casadi")
    places = [Path("/usr/include/eigen3")]
    places += [Path(casadi.origin).parent / "include/eigen3"] if casadi and casadi.origin else []
    eigen = next((place for place in places if (place / "Eigen").exists()), None)
    if prefix is None or eigen is None:
        return None
    library = folder / "derivatives.so"
    options = ["-O3", "-march=native", "-DNDEBUG", "-std=c++17", "-shared", "-fPIC", "-w"]
    options += ["-DBOOST_MPL_LIMIT_LIST_SIZE=30", "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS"]
    options += ["-DBOOST_FUSION_INVOKE_MAX_ARITY=10"]
    headers = [f"-I{prefix / 'include'}", f"-I{eigen}"]
    try:
        command = ["g++", *options, *headers, str(SOURCE), "-o", str(library)]
        if not library.exists():
            subprocess.run(command, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError) as error:
        why = getattr(error, "stderr", "") or str(error)
        print(f"Pinocchio's C++ was not built: {why.splitlines()[-1]}")
        return None
    made = ctypes.CDLL(str(library))
    made.make_model.restype = ctypes.c_void_p
    made.time_pinocchio.restype = made.time_kernel.restype = ctypes.c_double
    return made


def described(chain: Chain) -> tuple[bytes, np.ndarray, np.ndarray]:
    """Kinds, places (n, 3, 4) and bodies (n, 10) of the joints, as the library takes them."""
    places, bodies, before = [], [], chain.base
    for joint, link in zip(chain.joints, chain.links, strict=True):
        place = before @ Pose.mdh(joint.b, joint.beta, joint.theta, joint.d)
        places.append(np.column_stack([place.rotation, place.translation]))
        J, before = link.inertia.about_com, Pose.of(np.eye(3), np.zeros(3))
        tensor = [J[0, 0], J[0, 1], J[1, 1], J[0, 2], J[1, 2], J[2, 2]]
        bodies.append([link.inertia.mass, *link.inertia.com, *tensor])
    return chain.kinds.encode(), np.array(places), np.array(bodies)


class InCpp:
    """Both by way of the library."""

    def __init__(self, library: ctypes.CDLL, chain: Chain) -> None:
        self.library = library
        kinds, places, bodies = described(chain)
        gravity = np.array(chain.gravity, float)
        self.model = ctypes.c_void_p(
            library.make_model(
                chain.n, kinds, *(ctypes.c_void_p(x.ctypes.data) for x in (places, bodies, gravity))
            )
        )

    def peer(self, forward: bool, state: np.ndarray, calls: int) -> tuple[float, np.ndarray]:
        """Seconds of Pinocchio's call, and the derivatives by q that it gives."""
        n = state.shape[1]
        by_q = np.empty((n, n))
        pointers = (ctypes.c_void_p(state.ctypes.data), ctypes.c_void_p(by_q.ctypes.data))
        taken = self.library.time_pinocchio(self.model, forward, pointers[0], calls, 1, pointers[1])
        return taken, by_q

    def kernel(self, address: int, read: Any, written: Any, calls: int) -> float:
        """Seconds of armdyn's kernel."""
        return self.library.time_kernel(ctypes.c_void_p(address), read, written, calls, 1)


class InPython:
    """Both called from Python: armdyn's kernel through ctypes, Pinocchio by its bindings."""

    def __init__(self, chain: Chain) -> None:
        import pinocchio

        from benchmarks.arms import urdf

        self.pin, self.model = pinocchio, pinocchio.buildModelFromXML(urdf(chain))
        self.model.gravity.linear = np.array(chain.gravity)
        self.data = self.model.createData()

    def peer(self, forward: bool, state: np.ndarray, calls: int) -> tuple[float, np.ndarray]:
        """Seconds of Pinocchio's call, and the derivatives by q that it gives."""
        pin = self.pin
        function = pin.computeABADerivatives if forward else pin.computeRNEADerivatives
        taken = timed(lambda: function(self.model, self.data, *state), calls)
        return taken, self.data.ddq_dq if forward else self.data.dtau_dq

    def kernel(self, address: int, read: Any, written: Any, calls: int) -> float:
        """Seconds of armdyn's kernel."""
        call = ctypes.PYFUNCTYPE(None)(address)
        return timed(lambda: call(read, written), calls)


def timed(function: Callable[[], object], calls: int) -> float:
    """Seconds of one of so many calls."""
    begin = time.perf_counter()
    for _ in range(calls):
        function()
    return (time.perf_counter() - begin) / calls


# Measuring ---------------------------------------------------------------------------------------


def measured(name: str, chain: Chain, quantity: str, both: Any, rounds: int) -> Row:
    """One quantity of one arm."""
    forward = quantity.startswith("forward")
    numbers = states(chain, BATCH)
    given = [numbers[k] for k in ("q", "qd", "tau" if forward else "qdd")]
    state = np.stack([array[0] for array in given])
    function = getattr(Robot(chain), quantity)
    results = function(*state)
    code = Compilation(chain, [Task(quantity)])  # has to stay: the kernel goes with it
    address = code("single", "float64")
    arguments = [row.copy() for row in state]
    read, written = (
        (ctypes.c_void_p * 3)(*(array.ctypes.data for array in arrays))
        for arrays in (arguments, results)
    )
    out = tuple(np.empty((BATCH, chain.n, chain.n)) for _ in range(3))
    times = {
        "kernel": lambda calls: both.kernel(address, read, written, calls),
        "peer": lambda calls: both.peer(forward, state, calls)[0],
        "batch": lambda calls: timed(lambda: function(*given, out=out, threads=1), 1) / BATCH,
    }
    calls = {label: max(1, round(ROUND_S / time(1))) for label, time in times.items()}
    least = dict.fromkeys(times, np.inf)
    for _ in range(rounds):
        for label, one in times.items():
            least[label] = min(least[label], one(calls[label]))
    by_q = both.peer(forward, state, 1)[1]
    apart = np.abs(results[0] - by_q).max() / np.abs(by_q).max()
    if apart > 1e-8:
        raise AssertionError(f"{quantity} of {name}: {apart:.1e} off Pinocchio")
    method = cheapest(chain, quantity)
    kernel, peer, batch = (1e9 * least[label] for label in ("kernel", "peer", "batch"))
    return Row(
        *(name, quantity, method, program_cost(chain, quantity, method)),
        *(kernel, batch, peer, WANTED[quantity].get(name)),
    )


def main(arguments: list[str]) -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=200, help="turns of each (default: 200)")
    parser.add_argument(
        "--build", type=Path, help="where the C++, which takes minutes to build, is kept"
    )
    parser.add_argument("--large", action="store_true", help="arms of 12 and 30 joints, too")
    options = parser.parse_args(arguments)
    arms = {name: arm(name) for name in ARMS}
    if options.large:
        arms |= {f"n = {n}": Chain.random(n, seed=0) for n in (12, 30)}
    with tempfile.TemporaryDirectory() as folder:
        library = build(options.build or Path(folder))
        print(f"ns a state; Pinocchio called from {'C++' if library else 'Python'}\n")
        print(
            "| arm | quantity | method | operations | kernel | batch | Pinocchio | times quicker "
            "| wanted | batch quicker |"
        )
        print("|---|---|---|---:|---:|---:|---:|---:|---:|---:|")
        for name, chain in arms.items():
            both = InCpp(library, chain) if library else InPython(chain)
            for quantity in WANTED:
                if name == "n = 30" and quantity.startswith("forward"):
                    continue  # takes minutes to compile
                row = measured(name, chain, quantity, both, options.rounds)
                print(
                    f"| {row.arm} | {row.quantity} | {row.method} | {row.operations} "
                    f"| {row.kernel:.0f} | {row.batch:.0f} | {row.peer:.0f} "
                    f"| {row.peer / row.kernel:.1f} | {row.wanted or ''} "
                    f"| {row.peer / row.batch:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
