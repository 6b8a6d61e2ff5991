"""Safeea, Neto and Béarée: frame injection and GDAHJ. Joints count from 0 and are revolute."""

from functools import cache

import numpy as np

from armdyn.algorithms import catalogue, crba, frame_injection, gdahj, newton_euler
from armdyn.algorithms.stages import stage
from armdyn.chain import Chain
from armdyn.counting import growth
from armdyn.counting.polynomial import Polynomial
from armdyn.spatial import Symmetric, Vector
from tests.papers.samples import REVOLUTE, SMALL, E, along, cross, draw, off, skew


@cache
def arms():
    """Arms of revolute joints, as in the paper."""
    return draw(REVOLUTE)


def total(mul, add):
    """Multiplications and additions together, a polynomial in n."""
    return Polynomial.parse(mul) + Polynomial.parse(add)


def counted(method, part=None):
    """Those of our mass matrix, a doubling counted as an addition."""
    found = growth("mass_matrix", method, stage=part)
    return found["mul"] + found["add"] + found["double"]


def test_equations_of_motion():
    """(1) to (3): the torque from the Lagrangian's derivatives, and as A qdd + B qd + g."""
    for s in arms():
        state = s.q.tolist(), s.qd.tolist()
        slopes = [along(s.mass_matrix, s.q, e) for e in np.eye(s.n)]
        kinetic = np.array([s.qd @ slope @ s.qd / 2 for slope in slopes])
        momentum = s.M @ s.qdd + along(s.mass_matrix, s.q, s.qd) @ s.qd
        v = momentum - kinetic + s.gravity
        tau = newton_euler.inverse_dynamics(s.arm, *state, s.qdd.tolist())
        B = np.array(newton_euler.coriolis_matrix(s.arm, *state))
        assert off(v, tau) < SMALL and off(s.M @ s.qdd + B @ s.qd + s.gravity, tau) < SMALL


def injected(s, i):
    """What our frames 0 to i transfer to link i, accelerations and moments."""
    moving = zip(s.at.u, s.at.o, s.qd, s.qdd, strict=True)
    frames = [frame_injection.frame(True, Vector(*k), Vector(*p), v, a) for k, p, v, a in moving]
    I = Symmetric(*s.tensors[i][np.triu_indices(3)])
    link = frame_injection.Link(s.m[i], Vector(*s.at.p[i]), I)
    functions = frame_injection.accelerations, frame_injection.moments
    return [np.array([[*v] for v in each(frames[: i + 1], link)]) for each in functions]


def test_injected_accelerations():
    """(4) to (11): the frames' accelerations add up to that of a link's centre of mass."""
    for s in arms():
        for i in range(s.n):
            p, w, eps = s.at.p[i] - s.at.o, s.qd[:, None] * s.at.u, s.qdd[:, None] * s.at.u
            found = []
            for j in range(i + 1):
                v_r = sum((cross(w[k], p[k]) for k in range(j + 1, i + 1)), np.zeros(3))
                normal = cross(w[j], cross(w[j], p[j]))
                found.append(cross(eps[j], p[j]) + normal + 2 * cross(w[j], v_r))
            assert off(sum(found), s.acceleration(s.qd, s.qdd, i)) < SMALL
            assert off(injected(s, i)[0], found) < SMALL


def test_injected_moments():
    """(12) to (17): the frames' moments add up to that of Euler's equation."""
    for s in arms():
        for i in range(s.n):
            I, w, eps = s.tensors[i], s.qd[:, None] * s.at.u, s.qdd[:, None] * s.at.u
            L = np.trace(I) * E - 2 * I
            found = []
            for j in range(i + 1):
                w_r = w[j + 1 : i + 1].sum(axis=0)
                found.append(I @ eps[j] + cross(L @ w[j], w[j]) / 2 + cross(L @ w[j], w_r))
            whole = s.spin(s.q, s.qd, i)
            truth = I @ s.angular_acceleration(s.qd, s.qdd, i) + cross(whole, I @ whole)
            assert off(sum(found), truth) < SMALL
            assert off(injected(s, i)[1], found) < SMALL


def test_lost_page():
    """(18) to (31), Algorithm 1, rebuilt: A_ij = k_j . d_i + t_j . y_i for j <= i."""
    for s in arms():
        k, o, p, A = s.at.u, s.at.o, s.at.p, np.zeros((s.n, s.n))
        for i in range(s.n):
            outer = range(i, s.n)
            b = sum(s.m[l] * (p[l] - o[i]) for l in outer)
            D = sum(s.tensors[l] - s.m[l] * skew(p[l] - o[i]) @ skew(p[l]) for l in outer)
            d, y = D.T @ k[i], cross(b, k[i])
            for j in range(i + 1):
                A[i, j] = A[j, i] = k[j] @ d + cross(k[j], o[j]) @ y
        assert off(A, s.M) < SMALL
        assert off(gdahj.mass_matrix(s.arm, s.q.tolist()), A) < SMALL


def test_relative_error():
    """(32), and that GDAHJ and CRBA differ by rounding: by less than 1e-15 n^2."""

    def e(A, B):
        return np.sum(np.abs(A - B)) / np.max(np.abs((A + B) / 2))

    assert abs(e(np.array([[1, 2], [2, 4]]), np.array([[1.5, 2], [2, 5]])) - 1 / 3) < SMALL
    for n in (5, 10, 20):
        arm = Chain.random(n, "R" * n, seed=n).on(float)
        q = np.random.default_rng(n).uniform(-3, 3, n).tolist()
        A, B = (np.array(each.mass_matrix(arm, q)) for each in (gdahj, crba))
        assert 0 < e(A, B) < 1e-15 * n**2


def test_table_i():
    """Table I, counted: GDAHJ as printed, its constants fitted; CRBA with 2n-2 fewer additions."""
    for method, part, mul, add in (
        ("gdahj", "dynamics", "3n^2+88n-3", "2.5n^2+95.5n-18"),
        ("gdahj", "kinematics", "30n-6", "18n-6"),
        ("gdahj-one-sum", "dynamics", "3n^2+88n-12", "2.5n^2+89.5n-33"),
        ("hybrid", "dynamics", "3n^2+62n-32", "2.5n^2+61.5n-41"),
        ("crba", None, "10n^2+22n-32", "6n^2+35n-41"),
        ("newton-euler", None, "43n^2-59n+14", "31n^2-41n+11"),
    ):
        found = growth("mass_matrix", method, stage=part)
        assert (str(found["mul"]), str(found["add"] + found["double"])) == (mul, add)
    rnea = growth("inverse_dynamics", "newton-euler")
    assert (str(rnea["mul"]), str(rnea["add"])) == ("94n-79", "82n-74")


def test_nested_loop(monkeypatch):
    """Section III: GDAHJ's nested loop takes (3n^2+3n) m and (2.5n^2+2.5n) a."""
    monkeypatch.setattr(gdahj, "products", stage("loop")(gdahj.products))
    loop = growth("mass_matrix", "gdahj", stage="loop")
    assert (str(loop["mul"]), str(loop["add"])) == ("3n^2+3n", "2.5n^2+2.5n")


def test_quadratic_parts():
    """Introduction, conclusion: 16 n^2 operations of CRBA become 5.5 n^2; no method has fewer."""
    names = [method.name for method in catalogue.methods("mass_matrix")]
    found = {name: counted(name).coefficients for name in names}
    assert (float(found["crba"][2]), float(found["gdahj"][2])) == (16, 5.5)
    assert min(float(c[2]) for c in found.values() if len(c) == 3) == 5.5


def test_crossover():
    """GDAHJ is better than CRBA for more than 13 joints; for 13 too, by the printed counts."""
    GDAHJ = total("3n^2+88n-3", "2.5n^2+95.5n-18")
    CRBA = total("10n^2+22n-32", "6n^2+37n-43")
    assert [(GDAHJ(n), CRBA(n)) for n in (12, 13)] == [(2973, 2937), (3294, 3396)]
    assert min(CRBA(n) - GDAHJ(n) for n in range(13, 500)) > 0
    assert [round(float(CRBA(n) / GDAHJ(n)), 1) for n in (50, 95)] == [1.9, 2.2]
    crba_n = counted("crba")
    for method, part, least in (
        ("gdahj", "dynamics", 13),
        ("gdahj", None, 17),
        ("hybrid", "dynamics", 7),
        ("hybrid", None, 11),
    ):
        ours = counted(method, part)
        assert max(n for n in range(1, 500) if ours(n) >= crba_n(n)) + 1 == least
