"""Hold the Panda against gravity and push it: it floats, and no energy of motion is lost."""

import numpy as np

import armdyn

robot = armdyn.load("panda")
q0 = [0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8]
push = [0.3, 0.0, 0.0, 0.2, 0.0, 0.0, 0.5]  # speeds [rad/s]

run = armdyn.simulate(
    robot, q0, push, tau=armdyn.controllers.gravity_compensation(), t=2.0, dt=1e-3
)
kinetic, potential = robot.energy(run.q, run.qd)
print(f"{len(run.t)} states from 0 to {run.t[-1]:g} s")
print("moved by [rad]:", (run.q[-1] - q0).round(3))
print(f"height of the tip: {robot.pose(q0)[2, 3]:.3f} m, then {robot.pose(run.q[-1])[2, 3]:.3f} m")
drift = np.abs(kinetic / kinetic[0] - 1).max()
print(f"energy of motion: {kinetic[0]:.4f} J, changed by {drift:.0e} of it at most")
