"""Lin 1991: the lines of Fig. 3 and Fig. A1, each with the operations printed beside it.

Each line is counted by itself. R_i and earlier results are given, a doubling is an addition. The
lines on H_mj and d_mj and the first on zeta are not in our copy of Fig. 3.
"""

from armdyn import Chain
from armdyn.algorithms.lin1991 import across, dyad, similarity
from armdyn.algorithms.renaud import crossed
from armdyn.algorithms.stages import stage
from armdyn.counting import count_stage
from armdyn.spatial import Symmetric, Vector, steiner


class Given:
    """Numbers known at run time and the constants of an arm; joint 3 is the general one, i = 2.

    x is a number, v a vector, xy one with a zero last, J a tensor; s is s_2^<2>, u is u_2^<3>, and
    step is s_3^<2>, constant unless joint 3 is prismatic.
    """

    def __init__(self, arm, q, qd):
        self.arm, self.R, self.d = arm, arm.rotations(q), arm.extensions(q)
        self.x = x = qd[0]
        self.v, self.xy, self.J = Vector(x, x, x), Vector(x, x, 0), Symmetric(x, x, x, x, x, x)
        self.s = Vector(arm.b[1] * self.R[1].C, -arm.b[1] * self.R[1].S, self.d[1])
        self.step, self.u = arm.shifts(q)[2], self.R[1].rows()[2]
        self.m, self.mc, self.c = arm.mass[2], arm.first_moment[1], arm.com[2]
        self.I, self.I_c, self.J_33 = arm.inertia[1], arm.inertia_about_com[1], arm.inertia[0].zz
        self.tilde = self.I_c.less_half_trace()
        self.turn = self.R[2]

    def polar(self):
        """(R J R^T)_33."""
        Z = self.turn.rows()[2]
        return Z @ (self.J @ Z)


def assert_costs(lines, joints="RRRR"):
    """Assert that each line takes the operations printed beside it."""
    for printed, compute in lines:

        def function(arm, q, qd, compute=compute):
            stage("line")(compute)(Given(arm, q, qd))
            return []

        found = count_stage(Chain.random(4, joints), function, "line")
        assert f"{found.mul}M {found.add + found.double}A" == printed


def test_outward_lines_of_figure_3():
    """Fig. 3: g, (b)_1 for n = 1, s_2, s_i, p_i, s-hat_i^<i>; u_j, s-hat_j in E_{j+1} and E_i."""
    assert_costs(
        [
            ("8M 4A", lambda g: g.turn.down(g.v)),
            ("2M 1A", lambda g: across(g.mc) @ g.v),
            ("2M 0A", lambda g: (g.arm.b[1] * g.R[1].C, -g.arm.b[1] * g.R[1].S)),
            ("8M 7A", lambda g: g.turn.down(g.s + g.step)),
            ("0M 3A", lambda g: g.v + g.c),
            ("0M 0A", lambda g: across(g.v)),
            ("0M 0A", lambda g: g.turn.rows()[2]),
            ("5M 2A", lambda g: g.v.x * g.turn.rows()[0] + g.v.y * g.turn.rows()[1]),
            ("8M 4A", lambda g: g.turn.down(g.u)),
            ("8M 4A", lambda g: g.turn.down(g.v)),
        ]
    )
    sine = [("2M 0A", lambda g: (-g.d[2] * g.arm.Sb[2], g.d[2] * g.arm.Cb[2]))]
    assert_costs(sine, "RRPR")


def test_inward_lines_of_figure_3():
    """Fig. 3: p-hat_n, p-hat_i, p-hat_1; J-bar_n, J-bar_i, J-hat, (J-hat)_33; e_j, A and B_j."""
    assert_costs(
        [
            ("3M 0A", lambda g: g.m * g.v),
            ("11M 7A", lambda g: g.m * g.v + g.turn.up(g.v)),
            ("8M 7A", lambda g: g.mc + g.turn.up(g.v)),
            ("6M 6A", lambda g: g.tilde - dyad(g.v, g.v)),
            ("43M 31A", lambda g: g.tilde - dyad(g.v, g.v) + similarity(g.turn, g.J)),
            ("0M 3A", lambda g: (g.J.yy + g.J.zz, g.J.xx + g.J.zz, g.J.xx + g.J.yy)),
            ("2M 2A", lambda g: g.I_c.zz + g.v.x * g.v.x + g.v.y * g.v.y),
            ("14M 11A", lambda g: g.I_c.zz + g.v.x * g.v.x + g.v.y * g.v.y + g.polar()),
            ("12M 9A", lambda g: g.J_33 + g.polar()),
            ("2M 2A", lambda g: (-g.v.y - g.m * g.xy.x, g.v.x - g.m * g.xy.y)),
            ("6M 0A", lambda g: (g.xy.x * g.v, g.xy.y * g.v)),
            (
                "0M 7A",
                lambda g: (
                    *(-g.J.xy - g.x, g.J.xx + g.x, -g.J.yy + g.x, g.J.xy - g.x),
                    *(-g.J.yz + g.x, g.J.xz + g.x, -g.x - g.x),
                ),
            ),
        ]
    )


def test_lines_of_figure_a1():
    """Fig. A1: u_j, s-hat_j in E_{j+1} and E_i; c-hat_i, J-hat_i, (J-hat_i)_33; H_mj.

    The last three are for a prismatic joint i + 1. The paper charges their terms in J-hat_i and
    its (3, 3) without adding them to the others.
    """
    assert_costs(
        [
            ("0M 0A", lambda g: g.turn.rows()[2]),
            (
                "4M 2A",
                lambda g: (
                    g.c.x * g.turn.rows()[0].x + g.c.y * g.turn.rows()[1].x,
                    g.c.x * g.turn.rows()[0].y + g.c.y * g.turn.rows()[1].y,
                ),
            ),
            ("8M 4A", lambda g: g.turn.down(g.u)),
            ("14M 10A", lambda g: g.turn.down(g.v + g.u.cross(g.step))),
            ("8M 4A", lambda g: g.turn.up(g.v)),
            ("0M 3A", lambda g: g.mc + g.v),
            ("37M 25A", lambda g: g.I + similarity(g.turn, g.J)),
            ("9M 15A", lambda g: g.J + crossed(g.step, g.v)),
            ("12M 9A", lambda g: g.I.zz + g.polar()),
            ("2M 2A", lambda g: g.x + (2 * g.step.x * g.v.x + 2 * g.step.y * g.v.y)),
            ("5M 4A", lambda g: g.v @ g.v + g.v @ g.xy),
            ("2M 1A", lambda g: g.xy @ g.v),
            ("3M 2A", lambda g: g.m * g.v.z - g.xy @ g.v),
            ("1M 0A", lambda g: g.m * g.v.z),
        ]
    )
    sliding = [
        ("3M 6A", lambda g: g.mc + g.v + g.m * g.step),
        ("9M 3A", lambda g: steiner(g.m * g.step, g.step)),
        ("3M 1A", lambda g: g.m * (g.step.x * g.step.x + g.step.y * g.step.y)),
    ]
    assert_costs(sliding, "RRPR")
