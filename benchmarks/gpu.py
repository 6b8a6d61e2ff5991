"""Kernels on a GPU against its own copy bandwidth: `python -m benchmarks.gpu`.

It needs NVIDIA's driver and nothing else besides armdyn: memory is the driver's. The bandwidth of
copying is measured in the same run, and a kernel's speed is also told as a share of it: of the
speed at which as many bytes as it reads and writes could be copied. All quantities are compared
with the processor, bit for bit, on states with far angles, NaN and infinity among them.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from ctypes import byref, c_float, c_size_t, c_uint, c_uint64, c_void_p
from typing import Any

import numpy as np

import armdyn
from armdyn.engine import Code, Compilation, cuda, gpu
from armdyn.errors import ArmdynError
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import Task
from armdyn.simulation.step import STATE, Step, StepKernels
from benchmarks.gpu_peers import measured

ARM = "panda"
MAIN = (
    *("mass_matrix", "bias", "gravity", "inverse_dynamics", "forward_dynamics", "jacobian"),
    *("pose", "coriolis_matrix", "christoffel", "regressor"),
)
WIDE = ("christoffel", "regressor")  # of which there are fewer states
DTYPES = ("float32", "float64")
BLOCK = 2**20  # states that are made on the processor, and then repeated
PIECE = 2**17  # states that are compared at once
MARGIN = 2**30  # bytes of the card's memory that are left alone
LAW = "pd-gravity"  # of the simulated arms
GAINS = {"kp": 20.0, "kd": 2.0}  # [N m/rad], [N m s/rad]: with more, a light wrist is unstable
STEP = 1e-3  # [s]


class Card:
    """A device of the driver: its memory, its clock."""

    def __init__(self, number: int) -> None:
        self.driver, self.number = cuda.driver(), number
        self.library, self.check = self.driver.library, self.driver.check
        self.driver.enter(number)
        self.events = [c_void_p(), c_void_p()]
        for event in self.events:
            self.check(self.library.cuEventCreate(byref(event), c_uint(0)))

    def free(self) -> int:
        """The bytes of memory that are free."""
        left, total = c_size_t(), c_size_t()
        self.check(self.library.cuMemGetInfo_v2(byref(left), byref(total)))
        return left.value

    @contextmanager
    def memory(self, *sizes: int) -> Iterator[list[int]]:
        """Addresses of so many bytes each, for a while."""
        found: list[int] = []
        try:
            for size in sizes:
                place = c_uint64()
                self.check(self.library.cuMemAlloc_v2(byref(place), c_size_t(max(size, 16))))
                found.append(place.value)
            yield found
        finally:
            for address in found:
                self.library.cuMemFree_v2(c_uint64(address))

    def send(self, array: np.ndarray, to: int) -> None:
        """Copy an array to the card."""
        source = c_void_p(array.ctypes.data)
        self.check(self.library.cuMemcpyHtoD_v2(c_uint64(to), source, c_size_t(array.nbytes)))

    def fetch(self, address: int, array: np.ndarray) -> np.ndarray:
        """Fill an array from the card."""
        to = c_void_p(array.ctypes.data)
        self.check(self.library.cuMemcpyDtoH_v2(to, c_uint64(address), c_size_t(array.nbytes)))
        return array

    def copy(self, to: int, source: int, size: int) -> None:
        """Copy within the card's memory, behind what it has to do."""
        places = c_uint64(to), c_uint64(source)
        self.check(self.library.cuMemcpyDtoDAsync_v2(*places, c_size_t(size), c_void_p(0)))

    def wait(self) -> None:
        """Wait until all is done."""
        self.check(self.library.cuCtxSynchronize())

    def seconds(self, work: Callable[[], None], repeats: int = 10, rounds: int = 6) -> float:
        """The least time that the card takes for some work, by its own clock."""
        start, end = self.events
        work()
        self.wait()
        best = float("inf")
        for _ in range(rounds):
            self.check(self.library.cuEventRecord(start, c_void_p(0)))
            for _ in range(repeats):
                work()
            self.check(self.library.cuEventRecord(end, c_void_p(0)))
            self.wait()
            elapsed = c_float()
            self.check(self.library.cuEventElapsedTime(byref(elapsed), start, end))
            best = min(best, elapsed.value / 1e3 / repeats)
        return best


class Question:
    """A quantity of the arm: what a state of it takes and gives, and its kernel."""

    def __init__(self, quantity: str) -> None:
        self.code: Code = Compilation(armdyn.load(ARM).chain, [Task(quantity)])
        program = self.code.program
        self.takes = [*program.inputs.values()]
        self.gives = [int(np.prod(shape)) for shape in program.shapes]
        self.kernel = gpu.Kernel(self.code, tuple((k,) for k in self.takes), program.shapes)

    def bytes_a_state(self, dtype: str) -> int:
        """All that is read and written."""
        return (sum(self.takes) + sum(self.gives)) * np.dtype(dtype).itemsize


def drawn(takes: list[int], dtype: str, count: int, strange: bool, seed: int = 0) -> list[Any]:
    """Arguments of so many states, if asked with far angles, NaN and infinity among them."""
    rng = np.random.default_rng(seed)
    found = []
    for length in takes:
        x = rng.uniform(-3, 3, (count, length))
        if strange:
            x[1::16] *= 1e7
            x[3::64, -1] = 1e30
            x[5::64, 0] = np.nan
            x[7::64, length // 2] = -np.inf
            x[9::32] *= 1e13
            x[11::64] *= 1000.0 * np.finfo(dtype).smallest_subnormal
        found.append(x.astype(dtype))
    return found


def bandwidth(card: Card, size: int) -> float:
    """Bytes a second, read and written, of copying memory of the card."""
    with card.memory(size, size) as (a, b):
        return 2 * size / card.seconds(lambda: card.copy(b, a, size))


@contextmanager
def arranged(card: Card, asked: Question, dtype: str, count: int) -> Iterator[Callable[[], None]]:
    """A launch on so many states, for which all memory is there."""
    item = np.dtype(dtype).itemsize
    sizes = [count * k * item for k in (*asked.takes, *asked.gives)]
    with card.memory(*sizes) as places:
        block = min(BLOCK, count)
        values = drawn(asked.takes, dtype, block, strange=False)
        for array, place in zip(values, places, strict=False):
            card.send(array, place)
            for start in range(block, count, block):
                length = min(block, count - start) * array[0].nbytes
                card.copy(place + start * array[0].nbytes, place, length)
        inputs = list(zip(places, asked.takes, strict=False))
        outputs = places[len(asked.takes) :]
        yield lambda: asked.kernel.launch(inputs, outputs, count, dtype, card.number, 0)


def speeds(card: Card, most: int, copying: float) -> list[dict[str, Any]]:
    """G states a second of every main quantity, and the share of copying the same bytes."""
    rows = []
    for quantity in MAIN:
        asked = Question(quantity)
        row: dict[str, Any] = {"quantity": quantity}
        for dtype in DTYPES:
            count = min(most, 2**22) if quantity in WIDE else most
            while count * asked.bytes_a_state(dtype) > card.free() - MARGIN:
                count //= 2
            with arranged(card, asked, dtype, count) as launch:
                card.wait()
                begun = time.perf_counter()
                launch()
                card.wait()
                made = time.perf_counter() - begun
                seconds = card.seconds(launch)
            rate = asked.bytes_a_state(dtype) * count / seconds
            row[dtype] = {
                "states": count,
                "G states/s": round(count / seconds / 1e9, 3),
                "% of copying": round(100 * rate / copying, 1),
                "first call [s]": round(made, 2),
            }
        rows.append(row)
        print_speed(row)
    return rows


def print_speed(row: dict[str, Any]) -> None:
    """A line of the table."""
    cells = [f"{row['quantity']:18}"]
    for dtype in DTYPES:
        cells.append(f"{row[dtype]['G states/s']:8.2f} {row[dtype]['% of copying']:6.1f} %")
    print("  ".join(cells), flush=True)


def growth(card: Card) -> dict[str, float]:
    """G states a second of the mass matrix in float32, by the number of states."""
    asked, found = Question("mass_matrix"), {}
    for power in range(10, 25, 2):
        with arranged(card, asked, "float32", 2**power) as launch:
            found[str(2**power)] = round(2**power / card.seconds(launch) / 1e9, 3)
    return found


def overhead(card: Card, calls: int = 5000) -> dict[str, float]:
    """Microseconds of a launch: as the caller sees it, and of the driver's part of it."""
    asked = Question("gravity")
    with arranged(card, asked, "float32", 32) as launch:
        launch()
        card.wait()
        best = float("inf")
        for _ in range(5):
            begun = time.perf_counter()
            for _ in range(calls // 5):
                launch()
            best = min(best, (time.perf_counter() - begun) / (calls // 5))
            card.wait()
        device = card.seconds(launch, repeats=200)
    return {"call [us]": round(best * 1e6, 2), "between launches [us]": round(device * 1e6, 2)}


def differing(card: Card, quantity: str, dtype: str, count: int) -> int:
    """How many numbers have other bits than on the processor, but for what is NaN on both."""
    asked, robot = Question(quantity), armdyn.load(ARM)
    shapes, item = asked.code.program.shapes, np.dtype(dtype).itemsize
    function, wrong = robot.function(quantity), 0
    piece = min(PIECE, count)
    with card.memory(*(piece * k * item for k in (*asked.takes, *asked.gives))) as places:
        inputs = list(zip(places, asked.takes, strict=False))
        outputs = places[len(asked.takes) :]
        for start in range(0, count, piece):
            length = min(piece, count - start)
            given = drawn(asked.takes, dtype, length, strange=True, seed=start)
            for array, place in zip(given, places, strict=False):
                card.send(array, place)
            asked.kernel.launch(inputs, outputs, length, dtype, card.number, 0)
            card.wait()
            known = function(*given)
            for k, one in enumerate(known if isinstance(known, tuple) else (known,)):
                found = card.fetch(outputs[k], np.empty((length, *shapes[k]), dtype))
                same = found.view(f"u{item}") == one.view(f"u{item}")
                if not same.all():
                    wrong += int((~(same | (np.isnan(found) & np.isnan(one)))).sum())
    return wrong


def bits(card: Card, count: int) -> dict[str, Any]:
    """For each quantity and type, how many numbers differ from those of the processor."""
    found: dict[str, Any] = {"states": count}
    for quantity in QUANTITIES:
        for dtype in DTYPES:
            begun = time.perf_counter()
            wrong = differing(card, quantity, dtype, count)
            found[f"{quantity} {dtype}"] = wrong
            took = time.perf_counter() - begun
            print(f"  {quantity} {dtype}: {wrong} numbers differ ({took:.1f} s)", flush=True)
    return found


def simulated(card: Card, arms: int, steps: int) -> dict[str, float]:
    """G closed-loop steps a second, of Runge and Kutta's method, the state in registers."""
    chain, found = armdyn.load(ARM).chain, {}
    code = StepKernels(chain, Step("rk4-stage", law=LAW))
    program = code.program
    takes = tuple((k,) for k in program.inputs.values())
    states = STATE["rk4-stage"][:-2]  # all but the length of the step, and zero
    carried, still = [(k, k) for k in range(len(states))], range(len(states), len(takes))
    march = gpu.March(code, takes, program.shapes, carried, still)
    for dtype in DTYPES:
        q, qd = drawn([chain.n, chain.n], dtype, arms, strange=False)
        values = {"q": q, "qd": qd, "x": q, "v": qd, "h": STEP, **GAINS}
        values |= {"number": 0.0, "q_ref": 0.0, "qd_ref": 0.0}
        given = [
            np.array(np.broadcast_to(values.get(name.partition("@")[0], -0.0), (1, k)), dtype)
            if name not in ("q", "qd", "x", "v")
            else values[name]
            for name, k in program.inputs.items()
        ]
        with card.memory(*(x.nbytes for x in given), q.nbytes, qd.nbytes) as places:
            for array, place in zip(given, places, strict=False):
                card.send(array, place)
            rows = [
                (place, x.shape[1] if len(x) > 1 else 0, 0)
                for place, x in zip(places, given, strict=False)
            ]
            outputs = [*places[len(given) :], *[0] * (len(program.shapes) - 2)]

            def launch(rows: Any = rows, outputs: Any = outputs, dtype: str = dtype) -> None:
                stages = 4 * steps
                march.launch(rows, outputs, arms, stages, stages, dtype, card.number, 0)

            seconds = card.seconds(launch, repeats=2, rounds=2)
            finite = np.isfinite(card.fetch(outputs[0], np.empty_like(q))).mean()
        found[f"{dtype} G steps/s"] = round(arms * steps / seconds / 1e9, 3)
        found[f"{dtype} finite"] = float(finite)
    return found


def called(device: int, arms: int, steps: int) -> dict[str, float]:
    """The same by ``armdyn.simulate`` on torch's tensors: whole calls, by the user's clock."""
    try:
        import torch
    except ImportError:
        return {}
    if not torch.cuda.is_available():
        return {}
    robot, found = armdyn.load(ARM), {}
    hold = armdyn.controllers.pd_gravity(np.zeros(robot.n), **GAINS)
    for dtype in DTYPES:
        given = drawn([robot.n, robot.n], dtype, arms, strange=False)
        state = [torch.tensor(x, device=f"cuda:{device}") for x in given]
        options: Any = {"integrator": "rk4", "every": steps, "limits": "ignore"}
        times = []
        for _ in range(4):  # the first compiles
            begun = time.perf_counter()
            armdyn.simulate(robot, *state, hold, t=steps * STEP, dt=STEP, **options)
            torch.cuda.synchronize(device)
            times.append(time.perf_counter() - begun)
        found[f"{dtype} G steps/s"] = round(arms * steps / min(times) / 1e9, 3)
    return found


def version(card: Card) -> str:
    """The newest CUDA that the driver knows."""
    number = ctypes.c_int()
    with suppress(AttributeError):
        card.check(card.library.cuDriverGetVersion(byref(number)))
    return f"{number.value // 1000}.{number.value % 1000 // 10}"


def main() -> int:
    """Measure, print, and write what was measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer states, for a first look")
    parser.add_argument("--device", type=int, default=0, help="number of the GPU")
    parser.add_argument("--json", default="gpu.json", help="where the figures go")
    parser.add_argument("--no-bits", action="store_true", help="do not compare with the processor")
    parser.add_argument("--no-speed", action="store_true", help="do nothing but compare")
    parser.add_argument("--peers", action="store_true", help="measure other libraries too")
    asked = parser.parse_args()
    try:
        card = Card(asked.device)
    except ArmdynError as trouble:
        print(trouble, file=sys.stderr)
        return 1
    report: dict[str, Any] = {
        "gpu": card.driver.name(asked.device),
        "cuda": version(card),
        "arm": ARM,
        "armdyn": armdyn.__version__,
    }
    print(f"{report['gpu']}, CUDA {report['cuda']}")
    if not asked.no_speed:
        size = 2**30 if asked.quick else 2**32
        copying = bandwidth(card, min(size, card.free() // 4))
        report["copying [TB/s]"] = round(copying / 1e12, 3)
        print(f"copying {copying / 1e12:.2f} TB/s; G states/s and share of it, float32, float64")
        report["speed"] = speeds(card, 2**22 if asked.quick else 2**24, copying)
        report["launch"] = overhead(card)
        print("a launch:", report["launch"])
        report["growth"] = growth(card)
        print("mass_matrix float32 by states:", report["growth"])
        report["rk4"] = simulated(card, 2**20, 50 if asked.quick else 200)
        print("closed-loop RK4 steps:", report["rk4"], flush=True)
        report["simulate"] = called(asked.device, 2**20, 50 if asked.quick else 1000)
        print("the same by simulate on tensors:", report["simulate"], flush=True)
    if asked.peers:
        report["peers, M states/s"] = measured(ARM, 2**20)
        print("peers, M states/s:", report["peers, M states/s"], flush=True)
    if not asked.no_bits:
        report["bits"] = bits(card, 10**5 if asked.quick else 10**6)
    with open(asked.json, "w", encoding="utf-8") as file:
        json.dump(report, file, indent=1)
    if asked.no_bits:
        print(f"bits were not compared; see {asked.json}")
        return 0
    wrong = sum(n for name, n in report["bits"].items() if name != "states")
    print(f"{wrong} numbers have other bits than on the processor; see {asked.json}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
