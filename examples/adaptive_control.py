"""Follow a path with a load that nobody weighed: its ten parameters are estimated while moving.

The controller computes torques with the payload as it is known so far, given at the call. Torque is
linear in it, so ten unit payloads, in one batch, give the columns of its regressor; recursive least
squares do the rest. Nothing is compiled again while the estimate changes.
"""

import numpy as np

import armdyn

robot = armdyn.load("panda")
box = {"mass": 1.6, "com": [0.03, -0.02, 0.12], "inertia": np.diag([0.008, 0.01, 0.006])}
world = robot.with_payload(**box)  # what really moves
truth = np.array([1.6, 0.048, -0.032, 0.192, 0.03168, 0.00096, 0.03448, -0.00576, 0.00384, 0.00808])

torque = robot.function("inverse_dynamics", arguments="payload")  # f(q, qd, qdd, payload)
home = np.array([0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8])
swing = np.linspace(0.5, 0.3, 7)
speed = np.array([2.1, 1.7, 2.9, 2.3, 3.7, 3.1, 4.3])  # [rad/s]
units = np.vstack([np.zeros(10), np.eye(10)])
dt, kp, kd = 1e-3, 100.0, 20.0


def follow(learn: bool) -> tuple[np.ndarray, float]:
    """The payload as known after three seconds, and how far off the path the last one was [rad]."""
    q, qd = home.copy(), swing * speed
    payload, P = np.zeros(10), 1e3 * np.eye(10)
    off = 0.0
    for k in range(3000):
        phase = speed * k * dt
        wanted, rate = home + swing * np.sin(phase), swing * speed * np.cos(phase)
        aim = -swing * speed**2 * np.sin(phase) + kp * (wanted - q) + kd * (rate - qd)
        tau = torque(q, qd, aim, payload)
        qdd = world.forward_dynamics(q, qd, tau)  # what an accelerometer would tell
        if learn:
            columns = torque(q, qd, qdd, units)  # (11, 7): without a load, and with each unit load
            Y = (columns[1:] - columns[0]).T
            K = np.linalg.solve(np.eye(7) + Y @ P @ Y.T, Y @ P).T
            payload = payload + K @ (tau - columns[0] - Y @ payload)
            P = P - K @ Y @ P
        if k >= 2000:
            off = max(off, np.abs(wanted - q).max())
        qd = qd + dt * qdd
        q = q + dt * qd
    return payload, off


_, off = follow(learn=False)
print(f"off the path by {1e3 * off:.2f} mrad if the load stays unknown")
payload, off = follow(learn=True)
print(f"off the path by {1e3 * off:.2f} mrad if it is estimated")
print("mass [kg]:", payload[0].round(4), " centre [m]:", (payload[1:4] / payload[0]).round(4))
print("all ten parameters found:", np.allclose(payload, truth, rtol=0, atol=1e-6))
