"""Forward dynamics of an arm whose first axes meet in a point, solved in the shoulder's frame.

Ours. Joints up to o = ``arm.shoulder`` turn their links about one point. Of column i of the inertia
matrix beyond, they feel one torque t_i about that point, D_ji = u_j . t_i. To make D_ji, ``ldl``
turns each t_i into all their frames; then it takes off D_ji D_ki / D_ii for every two of them. Here
t_i stays in E_o, and t_i t_i^T / D_ii is taken off the tensor X of all that hangs on the shoulder,
with which [lin1999] goes on inward. What is left to solve is of o + 1 joints. That is how
articulated bodies free a joint, but on three numbers in place of six.

Bodies are flat, as in ``newton_euler_flat``; composite bodies are those of ``lin_fang_minimal``.
Joints count from 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from armdyn.algorithms import newton_euler_flat
from armdyn.algorithms.lin_fang import Composites, body_wrench, from_shoulder
from armdyn.algorithms.lin_fang_minimal import Bodies, along, bodies, tensor_V, tensor_X
from armdyn.algorithms.newton_euler import Wrench, inward
from armdyn.algorithms.newton_euler_sums import motion
from armdyn.chain.arm import Arm
from armdyn.spatial import Z_AXIS, ZERO, Rotation, Row, Scalar, Symmetric, Vector, about_x
from armdyn.spatial.matrices import solve

MOST = 15  # joints: beyond, articulated bodies take fewer operations


def forward_dynamics(
    arm: Arm, q: Sequence[Scalar], qd: Sequence[Scalar], tau: Sequence[Scalar]
) -> Row:
    """Joint accelerations qdd (n,) under torques tau."""
    n, o, R, d = arm.n, arm.shoulder, arm.rotations(q), arm.extensions(q)
    links = newton_euler_flat.wrenches(arm, motion(arm, q, qd, [0] * n))
    y, torque = rest_beyond(arm, R, d, links, tau)
    body = bodies(list(arm.mass), list(arm.first_moment), handed_in(arm))
    X = outboard(arm, R, d, body)
    D, t = columns_beyond(arm, R, d, body)

    k, free = [ZERO] * n, [0] * n  # t_i / D_ii, and 1 / D_ii
    for i in reversed(range(o + 1, n)):
        free[i] = 1 / (D[i][i] + arm.rotor_inertia[i])
        k[i] = free[i] * t[i]
        row, D[i] = D[i], [free[i] * x for x in D[i][:i]]
        for j in range(o + 1, i):
            D[j] = [x - D[i][j] * row[m] for m, x in enumerate(D[j])]
            t[j], y[j] = t[j] - D[i][j] * t[i], y[j] - D[i][j] * y[i]
        X = X - dyad(k[i], t[i])
        torque = torque + y[i] * k[i]

    qdd = solve(
        matrix_of_shoulder(arm, R, d, body, X), rest_of_shoulder(arm, R, links, tau, torque)
    )
    a = ZERO  # the angular acceleration of link o
    for i in range(o + 1):
        a = R[i].down(a) + qdd[i] * Z_AXIS
    for i in range(o + 1, n):
        x = free[i] * y[i] - k[i] @ a
        for j in range(o + 1, i):
            x = x - D[i][j] * qdd[j]
        qdd.append(x)
    return qdd


def handed_in(arm: Arm) -> list[Symmetric]:
    """The links' tensors with YY = 0, as [lin1999] wants them: what turns about z_i is the same."""
    U = list(arm.inertia)
    for i in reversed(range(1, arm.n)):
        same = Symmetric(U[i].yy, 0, 0, U[i].yy, 0, 0)
        U[i] = U[i] - same
        U[i - 1] = U[i - 1] + about_x(arm.Cb[i], arm.Sb[i], same)
    return U


def outboard(arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Bodies) -> Symmetric:
    """X of all that hangs on the shoulder, about its point, in E_o; and the bodies beyond."""
    V = Symmetric(0, 0, 0, 0, 0, 0)
    for i in reversed(range(arm.shoulder, arm.n - 1)):
        V = tensor_V(arm, R, d, body, tensor_X(arm, d, body, V, i), i)
    return tensor_X(arm, d, body, V, arm.shoulder - 1)


def columns_beyond(
    arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Bodies
) -> tuple[list[Row], list[Vector]]:
    """D_ji for o < j <= i, and t_i about the shoulder, in E_o."""
    n, o, s = arm.n, arm.shoulder, from_shoulder(arm, R, d)
    D: list[Row] = [[0] * (i + 1) for i in range(n)]
    torques, composites = [ZERO] * n, Composites(body.mh, body.ch, body.J3, [])
    for i in range(o + 1, n):
        f, t = body_wrench(arm, composites, i)
        D[i][i] = t.z
        for j in reversed(range(o + 1, i)):
            f, t = inward((ZERO, ZERO), R[j + 1], d[j + 1], arm.b[j + 1], (f, t))
            D[i][j] = t.z
        torques[i] = R[o + 1].up(t + s.cross(f))
    return D, torques


def rest_beyond(
    arm: Arm,
    R: Sequence[Rotation],
    d: Sequence[Scalar],
    links: Sequence[Wrench],
    tau: Sequence[Scalar],
) -> tuple[Row, Vector]:
    """What tau - b is beyond the shoulder, and the torque about that of all b, in E_o."""
    y: Row = [0] * arm.n
    f, t = links[-1]
    for i in reversed(range(arm.shoulder + 1, arm.n)):
        y[i] = tau[i] - t.z
        force, torque = inward((ZERO, ZERO), R[i], d[i], arm.b[i], (f, t))
        f, t = links[i - 1][0] + force, links[i - 1][1] + torque
    return y, t + Vector(0, 0, d[arm.shoulder]).cross(f)


def matrix_of_shoulder(
    arm: Arm, R: Sequence[Rotation], d: Sequence[Scalar], body: Bodies, X: Symmetric
) -> list[Row]:
    """The inertia matrix of the joints up to o, with rotors, when X hangs on link o."""
    o = arm.shoulder
    M: list[Row] = [[0] * (o + 1) for _ in range(o + 1)]
    for i in reversed(range(1, o + 1)):
        t = Vector(X.xz, X.yz, X.zz)
        M[i][i] = t.z + arm.rotor_inertia[i]
        for j in reversed(range(i)):
            t = R[j + 1].up(t)
            M[i][j] = M[j][i] = t.z
        if i > 1:
            X = tensor_X(arm, d, body, tensor_V(arm, R, d, body, X, i - 1), i - 2)
    M[0][0] = body.U[0].zz + along(R[1].rows()[2], X) + arm.rotor_inertia[0]
    return M


def rest_of_shoulder(
    arm: Arm,
    R: Sequence[Rotation],
    links: Sequence[Wrench],
    tau: Sequence[Scalar],
    torque: Vector,
) -> Row:
    """What tau - b is up to o, when this torque acts on link o."""
    y: Row = [0] * (arm.shoulder + 1)
    for i in reversed(range(arm.shoulder + 1)):
        y[i] = tau[i] - torque.z
        if i > 0:
            torque = links[i - 1][1] + R[i].up(torque)
    return y


def dyad(a: Vector, b: Vector) -> Symmetric:
    """The dyad a b^T of parallel vectors, 6M."""
    return Symmetric(a.x * b.x, a.x * b.y, a.x * b.z, a.y * b.y, a.y * b.z, a.z * b.z)


def refuses(arm: Arm) -> str | None:
    """Why the method does not apply."""
    if arm.n > MOST:
        return f"it has {arm.n} joints, and elimination pays up to {MOST}"
    if not all(arm.revolute):
        return "it has a prismatic joint"
    if arm.shoulder == 0 or arm.start[1] != 1:
        return "its first axes do not meet in one point, away from the frame of the last"
    return None
