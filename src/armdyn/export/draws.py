"""How self-tests draw what no arbitrary numbers can be: bodies."""

from __future__ import annotations

from random import Random

import numpy as np

from armdyn.chain import Chain
from armdyn.chain.inertia import Inertia
from armdyn.program.selftest import Draws


def draws(chain: Chain) -> Draws:
    """By the name of an argument, what draws its numbers for that arm."""

    def payload(chance: Random) -> list[float]:
        m, (x, y, z) = chance.uniform(0.5, 3), (chance.uniform(0.001, 0.01) for _ in range(3))
        com = [chance.uniform(-0.1, 0.1) for _ in range(3)]
        body = Inertia.from_com(m, com, m * np.diag([y + z, x + z, x + y]))
        return body.parameters().tolist()

    def parameters(chance: Random) -> list[float]:
        rows = chain.parameters_in("pinocchio").tolist()
        sizes = [chance.uniform(0.8, 1.2) for _ in rows]
        return [size * x for size, row in zip(sizes, rows, strict=True) for x in row]

    return {"payload": payload, "parameters": parameters}
