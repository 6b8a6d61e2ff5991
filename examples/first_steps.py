"""First steps: load an arm, ask for its dynamics, see how they are computed."""

import numpy as np

import armdyn

np.set_printoptions(precision=3, suppress=True)

robot = armdyn.load("puma560")  # or a path: .urdf, .toml
print(robot)

q = [0.0, 0.7, 3.1, 0.0, 0.7, 0.0]  # joint positions [rad], base to tip
qd = [0.1] * 6  # speeds [rad/s]
qdd = [0.5, 0.0, -0.5, 0.0, 0.0, 1.0]  # accelerations [rad/s^2]

print("mass matrix, first row:", robot.mass_matrix(q)[0])
print("torque that holds it [N m]:", robot.gravity(q))
print("tip in the base frame [m]:", robot.pose(q)[:3, 3])

tau = robot.inverse_dynamics(q, qd, qdd)
back = robot.forward_dynamics(q, qd, tau)
print("torque of a motion [N m]:", tau)
print(f"forward dynamics gives the motion back to {np.abs(back - qdd).max():.0e} rad/s^2")

cheapest = next(row for row in robot.methods("mass_matrix") if row.chosen)
print(f"mass matrix by {cheapest.name}: {cheapest.operations} operations a state")
