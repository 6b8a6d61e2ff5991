"""MJCF: a chain's mass matrix and bias force, compared with MuJoCo's own at two states.

What MuJoCo warns of meanwhile is kept; it would write that to a file in the working folder.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from armdyn.chain import Chain
from armdyn.chain.checks import postures
from armdyn.errors import listed, shorten
from armdyn.forks import importing
from armdyn.loaders.mjcf_drives import SINGLE
from armdyn.loaders.normal_frames import COSTS
from armdyn.quantities.tasks import Task, formula

if TYPE_CHECKING:
    from armdyn.loaders.mjcf import Reader

LOSS = re.compile(rf"{COSTS} ([\w.+-]+)(?: while slides stay within [\w.+-]+ m in all)?$")
TOLERANCE = 1e-6  # relative; correct arms differ by 1e-12, and a slip by more than 1e-3
WARNED: dict[int, list[str]] = {}  # what MuJoCo warns of, by thread


@contextmanager
def keep_warnings(said: list[str]) -> Iterator[None]:
    """Append MuJoCo's warnings to ``said``, if the user has not set where they go."""
    with importing:
        import mujoco

        WARNED[threading.get_ident()] = said
        if mujoco.get_mju_user_warning() is None:
            mujoco.set_mju_user_warning(_keep)
    try:
        yield
    finally:
        with importing:
            del WARNED[threading.get_ident()]
            if not WARNED and mujoco.get_mju_user_warning() is _keep:
                mujoco.set_mju_user_warning(None)


def _keep(text: str) -> None:
    WARNED.get(threading.get_ident(), []).append(text)


def difference(
    chain: Chain, reader: Reader, lock: Mapping[str, float], own_gravity: bool
) -> str | None:
    """How a chain differs from the model that it was read from, None if it does not.

    Joints off the chain stand still where they are locked. If ``own_gravity`` is False the chain's
    gravity is not the model's, and both are compared without any.
    """
    if chain.kinematic_only:
        return None
    if not own_gravity:
        chain = chain.with_gravity((0.0, 0.0, 0.0), check="warn")
    names = [joint.name for joint in chain.joints]
    ours = [formula(chain, float, Task(what, "newton-euler")) for what in ("mass_matrix", "bias")]
    loss = sum(float(found[1]) for found in map(LOSS.search, chain.notes) if found)
    for q, qd, M, bias in _of_mujoco(reader, names, lock, own_gravity):
        size = np.sqrt(abs(M.diagonal()))
        allowed = TOLERANCE * np.outer(size, size) + loss * abs(M).max()
        found = np.array(ours[0](q))
        if (off := _worst(found, M, allowed)) is not None:
            joints = " and ".join(shorten(names[k]) for k in dict.fromkeys(off))
            return f"mass matrix of {joints}{_versus(found[off], M[off])}{_cause(reader, names)}"
        found, most = np.array(ours[1](q, qd)), max(abs(bias).max(), abs(M).max())
        allowed = np.full(len(names), (TOLERANCE + loss) * most)
        if (off := _worst(found, bias, allowed)) is not None:
            joint = shorten(names[off[0]])
            return f"bias force of {joint}{_versus(found[off], bias[off])}{_cause(reader, names)}"
    return None


def _of_mujoco(
    reader: Reader, names: Sequence[str], lock: Mapping[str, float], gravity: bool
) -> Iterator[tuple[list[float], list[float], np.ndarray, np.ndarray]]:
    """Positions and velocities of the named joints, and M and bias of MuJoCo there."""
    with importing:
        import mujoco

    model, bits = reader.model, mujoco.mjtDisableBit
    off = [bits.mjDSBL_CONTACT, bits.mjDSBL_CONSTRAINT] + [bits.mjDSBL_GRAVITY] * (not gravity)
    for bit in off:
        model.opt.disableflags |= int(bit)
    data = mujoco.MjData(model)
    for j, name in enumerate(reader.joints):
        if model.jnt_type[j] in SINGLE:
            data.qpos[model.jnt_qposadr[j]] = lock.get(name, 0.0)
    numbers = [reader.joints.index(name) for name in names]
    places, dofs = model.jnt_qposadr[numbers], model.jnt_dofadr[numbers]
    for q, qd in pairwise(postures(len(names))):
        data.qpos[places], data.qvel[dofs] = q, qd
        mujoco.mj_fwdPosition(model, data)
        mujoco.mj_fwdVelocity(model, data)
        M, column = np.empty((len(names), len(names))), np.empty(model.nv)
        for k, dof in enumerate(dofs):
            mujoco.mj_mulM(model, data, column, np.eye(1, model.nv, dof)[0])
            M[:, k] = column[dofs]
        yield q, qd, M, data.qfrc_bias[dofs].copy()


def _worst(found: np.ndarray, expected: np.ndarray, allowed: np.ndarray) -> tuple[int, ...] | None:
    """Where two arrays differ most, None where nowhere by more than is allowed."""
    off = abs(found - expected) - allowed
    if (off <= 0).all():
        return None
    return tuple(map(int, np.unravel_index(np.nan_to_num(off, nan=np.inf).argmax(), off.shape)))


def _versus(found: float, expected: float) -> str:
    return f": {found:.6g} is read, MuJoCo has {expected:.6g}"


def _cause(reader: Reader, names: Sequence[str]) -> str:
    """The tendons that may explain it."""
    heavy = reader.drives.heavy([reader.joints.index(name) for name in names])
    return f"; tendons with armature couple joints: {listed(map(shorten, heavy))}" if heavy else ""
