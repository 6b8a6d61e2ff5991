"""The arms that laws are tried on, and the strategies that draw them and their states."""

import dataclasses

import numpy as np
from hypothesis import strategies as st

from armdyn import Chain
from armdyn.chain.pose import Pose
from armdyn.chain.random import STRUCTURES, _rotation


@st.composite
def chains(draw, min_joints=1, max_joints=7):
    """Any random arm and tip: every structure, every mix, some with rotors and friction."""
    kinds = draw(st.text("RP", min_size=min_joints, max_size=max_joints))
    seed = draw(st.integers(0, 2**32 - 1))
    chain = Chain.random(len(kinds), kinds, seed, draw(st.sampled_from(STRUCTURES)))
    rng = np.random.default_rng([seed, 1])
    tip = Pose.of(_rotation(rng.standard_normal((3, 3))), rng.uniform(-0.5, 0.5, 3))
    chain = dataclasses.replace(chain, tip=tip)
    if draw(st.booleans()):
        chain = with_rotors(chain)
    return chain


def with_rotors(chain):
    """The same arm with a rotor and friction in every joint."""
    joints = tuple(
        dataclasses.replace(
            joint, rotor_inertia=0.1 * (i + 1), viscous=0.5, coulomb=(-0.3 - i, 0.4 + i)
        )
        for i, joint in enumerate(chain.joints)
    )
    return dataclasses.replace(chain, joints=joints)


def with_shoulder(chain, axes, d=0.25):
    """The same arm, but its first ``axes`` meet in a point, d [m] from the frame of the last."""
    joints = list(chain.joints)
    for i in range(1, axes):
        joints[i] = dataclasses.replace(joints[i], b=0.0, d=d if i == axes - 1 else 0.0)
    return dataclasses.replace(chain, joints=tuple(joints))


@st.composite
def moving(draw, vectors=3, **bounds):
    """(chain, q, qd, ...): an arm and so many random vectors of its size."""
    chain = draw(chains(**bounds))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return chain, *rng.uniform(-3, 3, (vectors, chain.n))
