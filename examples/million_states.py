"""The inverse dynamics of a million states in one call: ``million_states.py [STATES]``."""

import sys
from timeit import repeat

import numpy as np

import armdyn

states = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
robot = armdyn.load("panda")
q, qd, qdd = np.random.default_rng(0).uniform(-1, 1, (3, states, robot.n))

tau = robot.inverse_dynamics(q, qd, qdd)  # the first call compiles
seconds = min(repeat(lambda: robot.inverse_dynamics(q, qd, qdd, out=tau), number=1, repeat=3))
each = seconds / states
print(f"{states} states of {robot.name} in {1e3 * seconds:.1f} ms: {1e9 * each:.0f} ns each")
print("largest torque of each joint [N m]:", np.abs(tau).max(axis=0).round(1))

alone = robot.inverse_dynamics(q[-1], qd[-1], qdd[-1])
print("the last one alone gives the same bits:", np.array_equal(alone, tau[-1]))
