"""Count the operations that a method takes.

An algorithm runs on any scalar, so it runs on scalars that have no value and note what is done to
them. What counts as an operation depends on who counts. There are four kinds of count:

- ``literal``, as the papers count: every line as it is written, on a generic arm with the robot's
  kinds of joints. The same product on two lines counts twice.
- ``folded``: the same on the robot itself, where whatever is made of constants alone is free.
- ``shared``: folded, but equal terms are computed once, and what the result does not need is not
  computed. It is what the formulation really needs, without any algebra.
- ``program``: every operation of the program that would be compiled for this robot.

A fifth kind, ``paper``, counts nothing: it is what a method's paper prints for such joints, by the
paper's own rule. Where the paper prints its algorithm line by line, these lines are added up, which
need not give the printed total. ``armdyn tables`` shows both, and where our lines differ.

Another number, of kind ``depth``, is no count but the length of the longest chain of operations in
that program, each waiting for the one before it: with as many processors as one likes no schedule
of the program is shorter. Every multiplication, addition, subtraction, division, root and choice is
a step; inputs, constants and negations are none, and neither are sines and cosines, which the
papers take as on hand. Sums are added up in the order in which the method writes them.

In all our counts arithmetic between constants is free, and so are negation and whatever is done
with 0, 1 and -1. A doubling, 2 x, is counted apart. Rotor inertia is left out. In all but
``program`` these are free too, for the papers take them as on hand: sines and cosines, the entries
of R_i (C and S times Cb and Sb), and the joint variables theta_i' + q_i and d_i' + q_i; and a
division by a constant is a multiplication (in a program only that by a power of two).

A literal count charges some constants as if they were known at run time only, because the papers
do: what they form at run time they charge in full. Five rules say which. Rules 1 to 4 are read off
costs that the papers print beside their lines (the tests count those lines):

1. R_i is formed at run time: ``R.Cb``, ``R.Sb`` and the entries ``R.rows()`` count as run-time,
   those of a prismatic joint too (C and S of its constant theta_i are constants); ``arm.Cb`` and
   ``arm.Sb`` are constants, for terms that a paper computes in advance. So u_j^<j+2> costs 8M4A
   ([lin1991] Fig. 3, [lin1999] Tables II and III), s-hat_j^<j+2> 14M10A ([lin1991] Fig. A1) or
   12M8A ([lin1999] Table III).
2. A ``Vector`` or ``Symmetric`` with a run-time component is formed at run time: its other
   components, except 0 and +-1, count as run-time from there on. So s^<3>, made of
   s^<2> = [bC, -bS, d], costs 8M7A ([lin1991] Fig. 3).
3. The last link is a composite body like the others: ``arm.first_moment[n-1]`` and
   ``arm.inertia[n-1]`` count as run-time; ``mass``, ``com`` and ``inertia_about_com`` of every
   link are constants. So t_{n-1,n} costs 12M8A ([lin1999] Table I).
4. The first joint is a joint like the others: R_1 counts as general (though beta_1 = 0 by the
   choice of E_0), and so does where the arm stands, ``arm.base``. So g^<1> costs 8M4A ([lin1991]
   Fig. 3).
5. A zero that a paper stores and computes with, ``stages.zero()``, counts as run-time. No printed
   line shows this: the rule was fitted to the totals of [safeea2018] Table I.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import partial
from typing import Any, Literal, get_args, overload

from armdyn.algorithms import catalogue
from armdyn.algorithms.catalogue import Asked
from armdyn.algorithms.method import Method
from armdyn.algorithms.stages import Watcher, watcher
from armdyn.chain import Chain
from armdyn.chain.arm import Arm
from armdyn.counting import published
from armdyn.counting.polynomial import Polynomial
from armdyn.counting.rules import run_sealed
from armdyn.counting.scalars import Counted, Position, Tally
from armdyn.counting.tapes import StageTape
from armdyn.errors import MethodError, as_names, listed, meant, shorten, unknown
from armdyn.program.passes import needed, unroll
from armdyn.program.program import Op, Program
from armdyn.program.tables import Loop
from armdyn.program.tape import Tape
from armdyn.quantities import find, sizes
from armdyn.quantities.tasks import Task, arguments, cheapest, check_inertia, formula

Kind = Literal["literal", "folded", "shared", "program", "paper"]
KINDS = (*get_args(Kind), "depth")
ON_HAND = "on hand"  # the mark of what shared counts do not charge


@dataclass(frozen=True)
class Count:
    """Multiplications, additions and subtractions, doublings, divisions, sines and cosines."""

    mul: int = 0
    add: int = 0
    double: int = 0
    div: int = 0
    trig: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    def __sub__(self, other: Count) -> Count:
        return Count(*(a - b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def cost(self) -> int:
        """One number to compare methods by; a division weighs as much as eight operations."""
        return self.mul + self.add + self.double + 8 * self.div


@overload
def count(
    robot: Any,
    quantity: str | tuple[str, ...],
    method: str | None = None,
    kind: Kind = "literal",
    stage: str | None = None,
) -> Count: ...


@overload
def count(
    robot: Any,
    quantity: str | tuple[str, ...],
    method: str | None = None,
    *,
    kind: Literal["depth"],
) -> int: ...


def count(
    robot: Any,
    quantity: str | tuple[str, ...],
    method: str | None = None,
    kind: Kind | Literal["depth"] = "literal",
    stage: str | None = None,
) -> Count | int:
    """Count the operations that a method takes.

    Args:
        robot: a Robot or a Chain.
        quantity: its name, or several names for quantities that are computed together.
        method: its name; the cheapest exact method of each quantity if not given. Of a quantity
            that has one method only the name is not given; that of a frame is counted for the tip.
        kind: "literal", "folded", "shared", "program" or "paper", as explained above in this
            module; "paper" takes the name of a method.
            "depth": the longest chain of operations in the program, an int.
        stage: count only what is done inside this stage of the method. Stages within it are part
            of it. A ``shared`` count takes the stage alone: what it is handed is on hand, what
            others compute besides is not. In a ``program`` count an instruction belongs to the
            stages in which it is first recorded.
    """
    chain = _without_rotors(getattr(robot, "chain", robot))
    if not isinstance(kind, str) or kind not in KINDS:
        raise MethodError(unknown("kind of count", kind, KINDS))
    for option, value in (("method", method), ("stage", stage)):
        if value is not None and not isinstance(value, str):
            raise MethodError(f"{option} is {shorten(value)}; expected a name")
    if kind == "paper":
        return _printed(chain, as_names("quantities", quantity), method, stage)
    if kind != "literal":
        for name in as_names("quantities", quantity):
            check_inertia(chain, name)
    jobs = _jobs(chain, quantity, method)
    if kind == "depth" and stage is not None:
        raise MethodError(f"a depth is that of a whole method, not of its stage {shorten(stage)}")
    if kind in ("shared", "program", "depth"):
        jobs = [_as_compiled(chain, job) for job in jobs]
    if kind == "depth":
        return depth(_record(chain, jobs, shared=False, stage=None)[1])
    if kind in ("literal", "folded"):
        counters = _tally(chain, jobs, literal=kind == "literal")
    else:
        counters = _read(chain, jobs, kind == "shared", stage)
    if (stage or "") not in counters:
        by = ", ".join(found.name for _, found in jobs)
        known = sorted(filter(None, counters))
        hint = f"{meant(stage, known)}it has: {listed(known) or 'none'}"
        raise MethodError(f"{quantity} by {by} has no stage {shorten(stage)}; {hint}")
    return Count(**counters[stage or ""])


def _printed(chain: Chain, names: Sequence[str], method: str | None, stage: str | None) -> Count:
    """What the paper of a method counts for joints of these kinds."""
    quantity, what = names[0] if len(names) == 1 else tuple(names), " and ".join(names)
    lines = [line for line in published.lines() if line.printed and line.quantity == quantity]
    known = dict.fromkeys(f"{x.method} {x.stage or ''}".strip() for x in lines if x.method)
    if not known:
        raise MethodError(f"no paper prints a count of {what} by any method")
    if method is None:
        raise MethodError(f"a count of kind 'paper' takes the name of a method: {listed(known)}")
    method = catalogue.plain(method)
    found = published.find(quantity, method, stage, chain.kinds)
    if found is None or found.by_the_paper is None:
        what += f" by {method}" + (f", stage {shorten(stage)}," if stage else "")
        hint = f"printed for some joints: {listed(known)}"
        raise MethodError(f"no paper prints a count of {what} for joints {chain.kinds}; {hint}")
    return Count(*(int(polynomial(chain.n)) for polynomial in found.by_the_paper))


def count_stage(
    chain: Chain, function: Callable[..., Any], stage: str, literal: bool = True
) -> Count:
    """What a function of (arm, q, qd) does inside a stage: literally, or with constants folded."""
    job = ("bias",), Method("a function", function, "armdyn")
    return Count(**_tally(chain, [job], literal)[stage])


def growth(
    quantity: str | tuple[str, ...],
    method: str,
    kind: Kind = "literal",
    stage: str | None = None,
    joints: Callable[[int], str] = lambda n: "R" * n,
    sizes: Iterable[int] = range(4, 10),
) -> dict[str, Polynomial]:
    """The counts on generic arms as polynomials in n, by the fields of ``Count``.

    ``joints`` gives the joints' kinds for each n of ``sizes``; every polynomial goes through all
    of them, and is confirmed by one at least that it was not fitted to.
    """
    counts = {n: count(Chain.random(n, joints(n)), quantity, method, kind, stage) for n in sizes}
    return {
        field.name: Polynomial.through({n: getattr(c, field.name) for n, c in counts.items()})
        for field in fields(Count)
    }


# Which functions to run, and on what -------------------------------------------------------------

Job = tuple[tuple[str, ...], Method]  # quantities and the method that computes them


def _jobs(chain: Chain, quantity: Asked, method: str | None) -> list[Job]:
    """The method of each quantity, or the one that computes all of them together."""
    names = as_names("quantities", quantity)
    if not names:
        raise MethodError("count takes the name of a quantity, or several")
    jobs: list[Job] = [
        (together, found)
        for together, row in catalogue.TOGETHER.items()
        for found in row
        if set(together) == set(names) and method and found.name == catalogue.plain(method)
    ]
    if not jobs:
        jobs = [((name,), _method(chain, name, method)) for name in names]
    natural = chain.on(float)
    for quantities, found in jobs:
        reason = found.refuses(natural)
        if reason:
            what = f"{' and '.join(quantities)} by {found.name}"
            raise MethodError(f"{what} does not apply to {shorten(chain.name)}: {reason}")
    return jobs


def _method(chain: Chain, quantity: str, name: str | None) -> Method:
    """The method of that name, or the cheapest; that of a quantity which has one only."""
    asked = find(quantity)
    if not asked.function:
        return catalogue.find(quantity, name or cheapest(chain, quantity))
    if name is not None:
        raise MethodError(f"{quantity} has one method only; it cannot be {shorten(name)}")
    Task(quantity).settled(chain)
    function = asked.function() if asked.of else asked.function
    return Method(quantity, function, "armdyn", of=asked.of)


def _without_rotors(chain: Chain) -> Chain:
    if not isinstance(chain, Chain):
        raise MethodError(f"count takes a Robot or a Chain, not {shorten(chain)}")
    return replace(chain, joints=tuple(replace(j, rotor_inertia=0.0) for j in chain.joints))


def _as_compiled(chain: Chain, job: Job) -> Job:
    """The job as Robot does it: what the method is made of by the methods that suit the arm."""
    quantities, method = job
    if not method.of:
        return job
    (quantity,) = quantities
    compute = formula(chain, float, Task(quantity, method.name))
    return quantities, replace(method, function=lambda arm, *state: compute(*state))


def _state(jobs: list[Job]) -> list[str]:
    """The arguments that all of them take together."""
    return list(arguments([Task(name) for quantities, _ in jobs for name in quantities]))


def _run(
    jobs: list[Job], arms: list[Arm], state: dict[str, list[Any]], watch: Watcher
) -> tuple[Any, ...]:
    """The results of all jobs; ``watch`` sees their stages begin and end."""
    token = watcher.set(watch)
    try:
        return tuple(
            method.function(arm, *(state[argument] for argument in _state([(quantities, method)])))
            for (quantities, method), arm in zip(jobs, arms, strict=True)
        )
    finally:
        watcher.reset(token)


# Literal and folded: tally what is executed ------------------------------------------------------


def _tally(chain: Chain, jobs: list[Job], literal: bool) -> dict[str, Counter[str]]:
    """What is executed, in all and by stage."""
    if literal:
        chain = Chain.random(chain.n, chain.kinds)
    tally = Tally()
    arms = [chain.on(float, method.view) for _, method in jobs]
    twists = list(zip(arms[0].Cb, arms[0].Sb, strict=True))
    given = sizes(chain.n, _state(jobs))
    state: dict[str, list[Any]] = {
        name: [Counted(tally) for _ in range(size)] for name, size in given.items()
    }
    state["q"] = [Position(tally, twist) for twist in twists]
    run = partial(_run, jobs, arms, state, tally.stage)
    if literal:
        run_sealed(tally, arms, run)
    else:
        run()
    return tally.counters


# Shared and program: read the tape ---------------------------------------------------------------


def _read(
    chain: Chain, jobs: list[Job], shared: bool, stage: str | None
) -> dict[str, Counter[str]]:
    """What the results need, in all and by the stages in which it is first recorded."""
    tape, program = _record(chain, jobs, shared, stage)
    counters = {name: Counter[str]() for name in ("", *tape.names) if name != ON_HAND}
    for k in needed(program):
        if ON_HAND not in tape.marks[k]:
            for name in {"", *tape.marks[k]}:
                counters[name].update(_operations(program, k))
    return counters


def _record(chain: Chain, jobs: list[Job], shared: bool, stage: str | None) -> tuple[Tape, Program]:
    """The tape and the program of all jobs; if ``shared``, R_i and d_i are marked as on hand."""
    arms = [chain.on(float, method.view) for _, method in jobs]
    names = _state(jobs)
    inputs = sizes(chain.n, names)
    tape = StageTape(inputs, stage) if shared and stage else Tape(inputs)
    state = dict(zip(names, tape.arguments(), strict=True))
    if shared:
        with tape.mark(ON_HAND):
            arms[0].extensions(state["q"])
            for R in arms[0].rotations(state["q"]):
                R.rows()
    if isinstance(tape, StageTape):
        tape.put_on_hand()
    results = _run(jobs, arms, state, tape.mark)
    name = "_".join(name for quantities, _ in jobs for name in quantities)
    return tape, tape.finish(name, results if len(results) > 1 else results[0])


STEPS = {Op.ADD, Op.SUB, Op.MUL, Op.DIV, Op.FMA, Op.SQRT, Op.SELECT_LT}


def depth(program: Program) -> int:
    """The longest chain of operations, each waiting for the one before it."""
    plain = unroll(program)
    depths: list[int] = []
    for op, args, _ in plain.instructions:
        before = max((depths[arg] for arg in args), default=0)
        depths.append(0 if op in (Op.SIN, Op.COS) else before + (op in STEPS))
    return max((depths[k] for k in plain.outputs), default=0)


def _operations(program: Program, k: int) -> dict[str, int]:
    """What instruction k counts as, and how often."""
    op, args, value = program.instructions[k]
    if isinstance(value, Loop):
        found = Counter[str]()
        for each, times in value.operations().items():
            found.update({OPERATIONS[each]: times} if each in OPERATIONS else {})
        return found
    doubled = (arg for arg in args if program.instructions[arg].op is Op.CONSTANT)
    if op is Op.MUL and any(program.instructions[arg].value == 2.0 for arg in doubled):
        return {"double": 1}
    return {OPERATIONS[op]: 1} if op in OPERATIONS else {}


OPERATIONS = {
    Op.ADD: "add",
    Op.SUB: "add",
    Op.MUL: "mul",
    Op.DIV: "div",
    Op.SIN: "trig",
    Op.COS: "trig",
}
