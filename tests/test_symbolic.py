"""Closed forms: the textbook's, physical laws exactly, and our own numbers."""

import sys

import numpy as np
import pytest

import armdyn
from armdyn import Chain, MethodError, ModelError
from armdyn.export.symbolic import KNOWN, values
from armdyn.quantities import QUANTITIES
from armdyn.quantities.tasks import Task, formula

sympy = pytest.importorskip("sympy", reason="needs SymPy: pip install 'armdyn[symbolic]'")

TWO = armdyn.load("two_link")
q1, q2, v1, v2, a1, a2 = sympy.symbols("q1 q2 qdot1 qdot2 qddot1 qddot2")
m1, m2, l1, lc1, lc2, I1, I2, g = sympy.symbols("m1 m2 b2 cx1 cx2 Izz1 Izz2 g")
c1, c2, s2, c12 = sympy.cos(q1), sympy.cos(q2), sympy.sin(q2), sympy.cos(q1 + q2)


def zero(expression):
    """Whether something vanishes, whatever its variables are: with sin^2 = 1 - cos^2 put in."""

    def even(power):
        (angle,), k = power.base.args, int(power.exp)
        return (1 - sympy.cos(angle) ** 2) ** (k // 2) * sympy.sin(angle) ** (k % 2)

    flat = sympy.expand(sympy.expand_trig(expression))
    return sympy.expand(flat.replace(lambda x: x.is_Pow and x.base.func is sympy.sin, even)) == 0


def numbers(expression, state):
    """The numbers of a result at a state, as an array."""
    found = expression if isinstance(expression, tuple) else (expression,)
    return [np.array(np.array(each.subs(state).tolist()), float) if hasattr(each, "tolist")
            else float(each.subs(state)) for each in found]  # fmt: skip


# The textbook -------------------------------------------------------------------------------------


def test_the_two_link_arm_is_the_textbooks():
    """Spong, Hutchinson, Vidyasagar, Robot Modeling and Control, planar elbow manipulator."""
    M = TWO.symbolic("mass_matrix", parameters=True)
    d22 = m2 * lc2**2 + I2
    d12 = m2 * (lc2**2 + l1 * lc2 * c2) + I2
    d11 = m1 * lc1**2 + m2 * (l1**2 + lc2**2 + 2 * l1 * lc2 * c2) + I1 + I2
    assert (M - sympy.Matrix([[d11, d12], [d12, d22]])).expand() == sympy.zeros(2)
    C, h = TWO.symbolic("coriolis_matrix", parameters=True), -m2 * l1 * lc2 * s2
    textbook = sympy.Matrix([[h * v2, h * v2 + h * v1], [-h * v1, 0]])
    assert (C - textbook).expand() == sympy.zeros(2)
    G = TWO.symbolic("gravity", parameters=True)
    textbook = [(m1 * lc1 + m2 * l1) * g * c1 + m2 * lc2 * g * c12, m2 * lc2 * g * c12]
    assert (G - sympy.Matrix(textbook)).expand() == sympy.zeros(2, 1)


def test_the_closed_form_is_written_as_short_as_the_textbooks():
    """Sums of angles where they are shorter; no number is simplified away or left over."""
    assert str(TWO.symbolic("gravity")[1]) == "2.943*cos(q1 + q2)"
    assert str(TWO.symbolic("pose", parameters=True)[0, 3]) == "b2*cos(q1) + tipx*cos(q1 + q2)"
    wide = Chain.from_mdh(b=[0, 0], beta=[0, np.pi / 2], d=[0, 0], theta=[0, 0])
    assert str(armdyn.Robot(wide).symbolic("pose")[0, 0]) == "cos(q1)*cos(q2)"


# Physical laws, exactly ---------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["RR", "RPR"])
def robot(request):
    """Arms with right angles and a few constants."""
    n = len(request.param)
    return armdyn.Robot(
        Chain.from_mdh(
            b=[0, 0.5, 0.25][:n],
            beta=np.pi / 2 * np.array([0, 1, -1])[:n],
            d=[0, 0.25, 0][:n],
            theta=[0] * n,
            joints=request.param,
            mass=[1, 2, 3][:n],
            com=[[0.5, 0, 0.25], [0, 0.5, 0], [0.25, 0, 0.5]][:n],
            inertia=[[0.5, 0.5, 0.75]] * n,
            rotor_inertia=0.125,
        )
    )


def test_laws_hold_for_every_state(robot):
    """Gravity is the slope of the potential; M qdd + b the torque; Mdot - 2C skew; p = M qd."""
    n = robot.n
    q, qd, qdd = (
        sympy.Matrix([sympy.Symbol(f"{x}{i + 1}") for i in range(n)])
        for x in ("q", "qdot", "qddot")
    )
    made = {
        name: robot.symbolic(name, parameters=True)
        for name in ("mass_matrix", "bias", "gravity", "inverse_dynamics", "coriolis_matrix")
    }
    kinetic, potential = robot.symbolic("energy", parameters=True)
    M, b, tau = made["mass_matrix"], made["bias"], made["inverse_dynamics"]
    assert all(zero(sympy.diff(potential, x) - y) for x, y in zip(q, made["gravity"], strict=True))
    assert all(map(zero, M * qdd + b - tau))
    assert all(map(zero, sympy.Matrix([sympy.diff(kinetic, x) for x in qd]) - M * qd))
    Mdot = sum((M.diff(x) * v for x, v in zip(q, qd, strict=True)), sympy.zeros(n))
    S = Mdot - 2 * made["coriolis_matrix"]
    assert all(map(zero, S + S.T))


# Our numbers --------------------------------------------------------------------------------------


@pytest.mark.parametrize("quantity", KNOWN)
@pytest.mark.parametrize("named", [False, True], ids=["numbers", "names"])
def test_the_numbers_are_those_of_the_robot(quantity, named):
    """On an arm with a slide and any angles, and on one of three joints."""
    short, long = Chain.random(2, "PR", seed=1), Chain.random(3, "RRP", seed=2)
    chains = [TWO.chain] if quantity == "forward_dynamics" else [short]
    chains += [long] if quantity == "mass_matrix" and not named else []
    for chain in chains:
        arguments = QUANTITIES[quantity].arguments
        state = np.random.default_rng(0).uniform(-2, 2, (len(arguments), chain.n))
        letters = {"q": "q", "qd": "qdot", "qdd": "qddot", "tau": "tau"}
        known = {
            f"{letters[name]}{i + 1}": x
            for name, row in zip(arguments, state.tolist(), strict=True)
            for i, x in enumerate(row)
        } | (values(chain) if named else {})
        method = {"christoffel": "lagrange", "coriolis_matrix": "lagrange"}.get(quantity)
        method = method or ("ldl" if quantity == "forward_dynamics" else "newton-euler")
        task = Task(quantity, None if QUANTITIES[quantity].function else method)
        expected = formula(chain, float, task)(*state.tolist())
        expected = expected if len(QUANTITIES[quantity].results) > 1 else (expected,)
        made = armdyn.Robot(chain).symbolic(quantity, parameters=named)
        for found, value in zip(numbers(made, known), expected, strict=True):
            value = np.array(value, float)
            scale = max(1.0, np.abs(value).max())
            assert np.abs(np.reshape(found, value.shape) - value).max() <= 1e-12 * scale


def test_every_name_has_its_number():
    found = values(TWO)
    assert {str(symbol): found[symbol] for symbol in (m1, lc1, l1, I2, g)} == {
        "m1": 3.0, "cx1": pytest.approx(0.2), "b2": 0.5, "Izz2": pytest.approx(0.02), "g": 9.81,
    }  # fmt: skip
    assert TWO.symbolic("mass_matrix", parameters=True).free_symbols - {q2} <= set(found)


# Printed ------------------------------------------------------------------------------------------


def test_sympy_prints_it_in_any_language():
    bias = TWO.symbolic("bias", names=["theta1", "theta2"])
    assert r"\dot{\theta}_{1}^{2} \sin{\left(\theta_{2} \right)}" in sympy.latex(bias[1])
    assert "pow(thetadot1, 2)*sin(theta2)" in sympy.ccode(bias[1])
    names = {"theta1": 0.3, "theta2": 0.7, "thetadot1": 1.0, "thetadot2": -2.0}
    text = sympy.pycode(bias[0], fully_qualified_modules=False)
    made = eval(text, {"sin": np.sin, "cos": np.cos}, names)
    assert made == pytest.approx(TWO.bias([0.3, 0.7], [1.0, -2.0])[0], rel=1e-13)


# The 1986 paper -----------------------------------------------------------------------------------


def test_three_links_of_a_puma_have_the_papers_four_functions():
    """Armstrong, Khatib, Burdick 1986, eq. (3), of links whose centres of mass lie on x:

    a11 = I1 + I2 cos^2 q2 + I3 cos q2 cos(q2 + q3) + I4 cos^2(q2 + q3).
    """
    chain = Chain.from_mdh(
        b=[0, 0, 0.4],
        beta=[0, -np.pi / 2, 0],
        d=[0, 0.2, 0.1],
        theta=[0, 0, 0],
        mass=[1, 17, 5],
        com=[[0, 0, 0], [0.07, 0, 0], [0.05, 0, 0]],
        inertia=[[0.3, 0.3, 0.35], [0.13, 0.5, 0.5], [0.06, 0.06, 0.02]],
    )
    a11 = armdyn.Robot(chain).symbolic("mass_matrix", parameters=True)[0, 0]
    x, y = sympy.cos(sympy.Symbol("q2")), sympy.cos(sympy.Symbol("q2") + sympy.Symbol("q3"))
    names = sympy.symbols("m2 m3 b3 d2 d3 cx2 cx3 Izz1 Ixx2 Iyy2 Ixx3 Iyy3")
    m2, m3, a, d2, d3, c2, c3, Izz1, Ixx2, Iyy2, Ixx3, Iyy3 = names
    first = Izz1 + Ixx2 + Ixx3 + m2 * d2**2 + m3 * (d2 + d3) ** 2
    second = Iyy2 - Ixx2 + m2 * c2**2 + m3 * a**2
    fourth = Iyy3 - Ixx3 + m3 * c3**2
    assert zero(a11 - (first + second * x**2 + 2 * m3 * a * c3 * x * y + fourth * y**2))


# What cannot be -----------------------------------------------------------------------------------


def test_what_cannot_be_is_said(monkeypatch):
    bare = armdyn.Robot(Chain.from_mdh(b=[0], beta=[0], d=[0], theta=[0]))
    for ask, error, message in (
        (lambda: TWO.symbolic("mas_matrix"), MethodError, "did you mean 'mass_matrix'"),
        (
            lambda: TWO.symbolic("operational_space_inertia"),
            MethodError,
            "no closed form of operat",
        ),
        (lambda: TWO.symbolic("bias", names=["a"]), MethodError, "expected 2, one a joint"),
        (lambda: TWO.symbolic("bias", names=["a", "a"]), MethodError, "each once"),
        (lambda: TWO.symbolic("bias", names=["a b", "c"]), MethodError, "'a b' is no name"),
        (lambda: TWO.symbolic("bias", names=["m1", "c"]), MethodError, "a constant of the arm"),
        (lambda: TWO.symbolic("bias", names=["x", "xdot"]), MethodError, "would mean two things"),
        (lambda: TWO.symbolic("bias", parameters="yes"), MethodError, "expected True or False"),
        (lambda: TWO.symbolic("bias", frame="forearm"), MethodError, "bias has no frame"),
        (lambda: TWO.symbolic("pose", frame="forarm"), ModelError, "did you mean 'forearm'"),
        (lambda: TWO.symbolic("jacobian", axes="tip"), MethodError, "axes is 'tip'"),
        (lambda: bare.symbolic("mass_matrix"), ModelError, "links 'link1' have no mass"),
        (
            lambda: armdyn.load("scara").symbolic("forward_dynamics"),
            MethodError,
            "fills pages for more than 3 joints",
        ),
    ):
        with pytest.raises(error, match=message):
            ask()
    monkeypatch.setitem(sys.modules, "sympy", None)
    with pytest.raises(MethodError, match=r"pip install 'armdyn\[symbolic\]'"):
        TWO.symbolic("pose")
