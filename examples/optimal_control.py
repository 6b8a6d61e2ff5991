"""Swing the Panda's hand to a point, at rest, with little effort: iLQR on compiled derivatives.

The torque is what holds the arm, g(q), and the effort u. An iteration linearises the whole motion
in one batched call, solves the linear problem backward in time (a Riccati recursion), and tries
what it found, shortened until the cost falls.
"""

import numpy as np

import armdyn

robot = armdyn.load("panda").with_rotors(0.1)  # a guess: nobody prints them
n, steps, dt = robot.n, 100, 0.01
q0 = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8])
goal = robot.pose(q0 + [0.8, 0.4, 0.0, 0.5, 0.0, 0.0, 0.0])[:3, 3]  # a point it can reach [m]
EFFORT, PLACE, REST = 1e-2, 1e4, 1e2  # weights of effort, of the last distance and speed


def follow(q, qd, u, gain):
    """The motion under efforts u, corrected by gains on how far it departs from q and qd."""
    qs, qds, us = q.copy(), qd.copy(), u.copy()
    for k in range(steps):
        us[k] += gain[k] @ np.concatenate([qs[k] - q[k], qds[k] - qd[k]])
        qdd = robot.forward_dynamics(qs[k], qds[k], robot.gravity(qs[k]) + us[k])
        qds[k + 1] = qds[k] + dt * qdd
        qs[k + 1] = qs[k] + dt * qds[k + 1]
    return qs, qds, us


def cost(q, qd, u):
    """Half of what the weights say."""
    off = robot.pose(q[-1])[:3, 3] - goal
    return (PLACE * off @ off + REST * qd[-1] @ qd[-1] + EFFORT * dt * (u**2).sum()) / 2


def linearised(q, qd, u):
    """A (steps, 2n, 2n) and B (steps, 2n, n): how each next state depends on state and effort."""
    q, qd, rest = q[:-1], qd[:-1], np.zeros((steps, n))
    stiffness, _, _ = robot.inverse_dynamics_derivatives(q, rest, rest)  # dg/dq
    dq, dqd, du = robot.forward_dynamics_derivatives(q, qd, robot.gravity(q) + u)
    dq = dq + du @ stiffness
    speed = np.concatenate([dt * dq, np.eye(n) + dt * dqd, dt * du], axis=-1)
    place = dt * speed + np.eye(n, 3 * n)
    both = np.concatenate([place, speed], axis=-2)
    return both[..., : 2 * n], both[..., 2 * n :]


def improved(q, qd, u):
    """What to add to the efforts, and the gains: the Riccati recursion from the last state."""
    A, B = linearised(q, qd, u)
    J, off = robot.jacobian(q[-1])[:3], robot.pose(q[-1])[:3, 3] - goal
    slope = np.concatenate([PLACE * J.T @ off, REST * qd[-1]])  # of the cost to come
    curve = REST * np.eye(2 * n)
    curve[:n, :n] = PLACE * J.T @ J
    more, gain = np.zeros((steps, n)), np.zeros((steps, n, 2 * n))
    for k in reversed(range(steps)):
        by_u = EFFORT * dt * np.eye(n) + B[k].T @ curve @ B[k]
        more[k] = -np.linalg.solve(by_u, EFFORT * dt * u[k] + B[k].T @ slope)
        gain[k] = -np.linalg.solve(by_u, B[k].T @ curve @ A[k])
        slope = A[k].T @ (slope + curve @ B[k] @ more[k])
        curve = A[k].T @ curve @ (A[k] + B[k] @ gain[k])
    return more, gain


best = np.tile(q0, (steps + 1, 1)), np.zeros((steps + 1, n)), np.zeros((steps, n))  # it stays
least = cost(*best)
for iteration in range(50):
    more, gain = improved(*best)
    q, qd, u = best
    tries = (follow(q, qd, u + share * more, gain) for share in 0.5 ** np.arange(12))
    best = next((tried for tried in tries if cost(*tried) < least), best)
    saved, least = least - cost(*best), cost(*best)
    print(f"{iteration}: cost {least:.8f}")
    if saved <= 1e-9 * least:
        break
q, qd, u = best
print(f"off by {1e3 * np.linalg.norm(robot.pose(q[-1])[:3, 3] - goal):.2f} mm at the end", end=", ")
print(f"speeds below {np.abs(qd[-1]).max():.4f} rad/s, efforts below {np.abs(u).max():.1f} N m")
print("converged:", bool(saved <= 1e-9 * least))
