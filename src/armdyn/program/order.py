"""In which order a processor best meets the instructions of a program.

The longest chains first: an instruction waits for the one it depends on, so what many others wait
for is begun early. The order is that of a processor which begins ISSUES instructions a cycle, each
as soon as its operands are there, the one with the longest way to a result first.

Where registers are what is scarce, the fewest values wait: ``fewest_waiting``. A value that finds
no register is stored and loaded again. In long programs the order of recording is as good, in which
an algorithm ends what it begins, but with matrices decomposed early: ``reciprocals_first``.

Where other threads fill the time that one waits, sums take up their terms soon: ``terms_soon``.
And sines come before what they do not need: ``sines_first``.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from armdyn.program.program import TRIG, Op, Program

ISSUES = 6  # instructions begun in a cycle; 4 to 8 differ little
CYCLES = {  # from operands to result, about those of current processors
    Op.FMA: 4,
    Op.MUL: 4,
    Op.ADD: 3,
    Op.SUB: 3,
    Op.DIV: 14,
    Op.SQRT: 20,
    Op.SIN: 58,
    Op.COS: 58,
    Op.SELECT_LT: 3,
    Op.NEG: 1,
}


def longest_chain_first(program: Program, places: Sequence[int]) -> list[int]:
    """The instructions at these places, none of which needs another of them later in the list."""
    code = program.instructions
    users = _users(program)
    left = _cycles_left(program, users)
    inside = set(places)
    missing = {k: len(inside.intersection(code[k].args)) for k in places}
    ready = [(-left[k], k) for k in places if not missing[k]]
    heapq.heapify(ready)
    coming: list[tuple[int, int]] = []  # (cycle at which all operands are there, place)
    there = dict.fromkeys(places, 0)
    order: list[int] = []
    cycle = 0
    while ready or coming:
        while coming and coming[0][0] <= cycle:
            _, k = heapq.heappop(coming)
            heapq.heappush(ready, (-left[k], k))
        for _ in range(min(ISSUES, len(ready))):
            _, k = heapq.heappop(ready)
            order.append(k)
            for user in inside.intersection(users[k]):
                there[user] = max(there[user], cycle + CYCLES.get(code[k].op, 0))
                missing[user] -= 1
                if not missing[user]:
                    heapq.heappush(coming, (there[user], user))
        cycle += 1
    return order


def fewest_waiting(program: Program, places: Sequence[int]) -> list[int]:
    """The instructions at these places, each time the one after which fewest values wait.

    A value waits from when it is made, an input from its first use, until its last use. A negative
    takes nothing when it is made, as if it waited for nothing, and its last use still counts: what
    takes up negatives comes soon. (Not to count it was measured to be slower by a few hundredths.)
    Of several such instructions the one with the longest way to a result comes first. What was read
    or used up at other places is counted as if it was not.
    """
    code = program.instructions
    users = _users(program)
    left = _cycles_left(program, users)
    uses = [len(found) for found in users]  # that are still to come
    inside = set(places)
    missing = {k: len(inside.intersection(code[k].args)) for k in places}
    unread = {k for k, (op, _, _) in enumerate(code) if op is Op.INPUT}
    operands = {k: {arg for arg in code[k].args if code[arg].op is not Op.CONSTANT} for k in places}

    def more(k: int) -> int:
        """How many more values wait after it; as others are done, this can only become less."""
        made = uses[k] > 0 and code[k].op is not Op.NEG
        read = sum(arg in unread for arg in operands[k])
        return made + read - sum(uses[arg] == 1 for arg in operands[k])

    ready = [(more(k), -left[k], k) for k in places if not missing[k]]
    heapq.heapify(ready)
    order: dict[int, None] = {}
    while ready:
        _, _, k = heapq.heappop(ready)
        if k in order:  # it was here again, with fewer
            continue
        order[k] = None
        changed = set(users[k])
        for arg in operands[k]:
            uses[arg] -= 1
            if arg in unread or uses[arg] == 1:
                changed.update(users[arg])
        unread -= operands[k]
        for user in users[k]:
            if user in inside:
                missing[user] -= 1
        for other in inside.intersection(changed).difference(order):
            if not missing[other]:
                heapq.heappush(ready, (more(other), -left[other], other))
    return list(order)


def reciprocals_first(program: Program, places: Sequence[int]) -> list[int]:
    """The instructions at these places as recorded, but divisions and what they need first.

    So a matrix is formed and decomposed before there is what it is to be solved for: that would
    wait longer, and divisions take long.
    """
    divisions = [k for k in places if program.instructions[k].op is Op.DIV]
    first = _needed(program, divisions, set(places)).union(divisions)
    return sorted(places, key=lambda k: k not in first)


def _users(program: Program) -> list[list[int]]:
    """The instructions that use each value."""
    users: list[list[int]] = [[] for _ in program.instructions]
    for k, (_, args, _) in enumerate(program.instructions):
        for arg in set(args):
            users[arg].append(k)
    return users


def _cycles_left(program: Program, users: Sequence[Sequence[int]]) -> list[int]:
    """The cycles from each instruction's beginning to the last result."""
    left = [0] * len(users)
    for k in reversed(range(len(users))):
        cycles = CYCLES.get(program.instructions[k].op, 0)
        left[k] = cycles + max((left[user] for user in users[k]), default=0)
    return left


def terms_soon(program: Program, places: Sequence[int]) -> list[int]:
    """The instructions at these places as recorded, but those that take up a term at once.

    They do so as soon as their operands are there: products with constants, squares, differences,
    alone or in a sum. So a sum grows while its terms are made, and fewer values wait for it.
    Products of two values keep their places: that was measured to be better. This is for a GPU,
    where registers are scarcer than time.
    """
    code = program.instructions
    users: dict[int, list[int]] = {k: [] for k in places}
    missing = dict.fromkeys(places, 0)
    for k in places:
        for arg in set(code[k].args):
            if arg in users:
                users[arg].append(k)
                missing[k] += 1
    order: dict[int, None] = {}
    for k in places:
        now = [] if k in order else [k]
        while now:
            made = heapq.heappop(now)
            order[made] = None
            for user in users[made]:
                missing[user] -= 1
                if not missing[user] and _takes_up_a_term(program, user):
                    heapq.heappush(now, user)
    return list(order)


def _takes_up_a_term(program: Program, k: int) -> bool:
    code = program.instructions
    op, args, _ = code[k]
    if op in (Op.MUL, Op.FMA):
        left, right = (code[arg].args[0] if code[arg].op is Op.NEG else arg for arg in args[:2])
        return left == right or Op.CONSTANT in (code[left].op, code[right].op)
    return op in (Op.SUB, Op.NEG)


def sines_first(program: Program, given: list[list[int]]) -> list[list[int]]:
    """The same units; an instruction that no sine needs moves to just before its first use.

    Before the sines, its result would wait on the stack meanwhile. So would negatives, which cost
    nothing where they are used.
    """
    sines = {i for i, unit in enumerate(given) if program.instructions[unit[0]].op in TRIG}
    everything = {k for unit in given for k in unit}
    needed = _needed(program, [k for i in sines for k in given[i]], everything)
    last = max(sines, default=0)
    found: list[list[int]] = []
    late: set[int] = set()
    for i, unit in enumerate(given):
        if i < last and i not in sines and unit[0] not in needed:
            late.add(unit[0])
            continue
        before = _needed(program, unit, late)
        late -= before
        found += [*([k] for k in sorted(before)), unit]
    return [*found, *([k] for k in sorted(late))]


def _needed(program: Program, wanted: Iterable[int], places: set[int]) -> set[int]:
    """Those of the places that some instructions need, directly or by each other."""
    found: set[int] = set()
    todo = [arg for k in wanted for arg in program.instructions[k].args]
    while todo:
        k = todo.pop()
        if k in places and k not in found:
            found.add(k)
            todo += program.instructions[k].args
    return found
