"""An arm as people read it (terminal, notebook) and as programs do (JSON)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from armdyn.chain import Chain, Joint, checks
from armdyn.chain.inertia import Inertia
from armdyn.chain.pose import Pose
from armdyn.errors import cut, listed
from armdyn.output.report import html_table, table

MDH = ("b [m]", "beta [deg]", "d [m]", "theta [deg]")
TYPES = {"R": "revolute", "P": "prismatic"}
NAME, NOTE = 32, 600  # characters of a name and of a note


# Programs ----------------------------------------------------------------------------------------


def summary(chain: Chain) -> dict[str, Any]:
    """An arm in a few words."""
    return {
        "name": chain.name,
        "kinds": chain.kinds,
        "mass_kg": chain.mass,
        "locked": dict(chain.locked),
    }


def data(chain: Chain) -> dict[str, Any]:
    """All of an arm, in SI units and radians; infinite limits are None."""
    return {
        **summary(chain),
        "gravity": list(chain.gravity),
        "joints": list(map(_joint_data, chain.joints)),
        "links": [
            {
                "name": link.name,
                "mass": link.inertia.mass,
                "com": link.inertia.com.tolist(),
                "inertia_about_com": link.inertia.about_com.tolist(),
            }
            for link in chain.links
        ],
        "base": chain.base.matrix.tolist(),
        "tip": chain.tip.matrix.tolist(),
        "frames": chain.frame_names,
        "notes": list(chain.notes),
        "findings": checks.findings(chain),
    }


def _joint_data(joint: Joint) -> dict[str, Any]:
    row = {key: getattr(joint, key) for key in Joint.__dataclass_fields__}
    row["type"] = TYPES[row.pop("kind")]
    row["coulomb"] = list(joint.coulomb)
    return {key: None if value in (math.inf, -math.inf) else value for key, value in row.items()}


# Terminal ----------------------------------------------------------------------------------------


def robots_table(chains: Sequence[Chain]) -> Table:
    """The shipped arms, one row each."""
    made = table(
        "Arms that ship with armdyn", "name", ">n", "joints", ">mass [kg]", "locked joints"
    )
    for chain in chains:
        locked = ", ".join(name for name, _ in chain.locked)
        made.add_row(chain.name, str(chain.n), chain.kinds, f"{chain.mass:.2f}", locked)
    return made


def renderables(chain: Chain) -> Iterator[RenderableType]:
    """What a person wants to see of an arm, part by part."""
    joints = f"{chain.n} joint{'s' if chain.n > 1 else ''} ({chain.kinds})"
    end = f", tip {_short(chain.tip_name)}" if chain.tip_name else ""
    yield Text(f"{_short(chain.name)}: {joints}, {chain.mass:.2f} kg moved{end}", style="bold")
    yield _joint_table(chain.joints)
    yield _mdh_table(chain.joints)
    yield Text(f"joint 1 is at {_place(chain.base)} in the base frame")
    yield Text(f"the tip is at {_place(chain.tip)} in the frame of joint {chain.n}")
    carried = [frame.name for frame in chain.frames if frame.link == chain.n - 1]
    if others := [_short(name) for name in carried if name != chain.tip_name]:
        yield Text(
            "poses refer to the tip; tip= of load or frame= of a call takes another: "
            + listed(others)
        )
    yield _link_table(chain)
    yield Text(f"gravity is {_numbers(chain.gravity)} m/s^2 in the base frame")
    yield Text("frames: " + listed(map(_short, chain.frame_names)))
    for joint, position in chain.locked:
        yield Text(f"locked: {_short(joint)} at {position:g}")
    findings = checks.findings(chain)
    for note in chain.notes:
        if note not in findings:
            yield Text(f"note: {cut(note, NOTE)}", style="yellow")
    for finding in findings:
        yield Text(f"inconsistent: {cut(finding, NOTE)}", style="red")
    if not findings and not chain.kinematic_only:
        yield Text("consistent: every link is a body that can exist, and every joint moves mass")


def _joint_table(joints: Iterable[Joint]) -> Table:
    limits, friction = (">lower", ">upper", ">speed", ">effort"), (">viscous", ">coulomb")
    heading = "Joints [rad, N m; prismatic: m, N]"
    made = table(heading, "name", "type", *limits, ">rotor", *friction)
    for joint in joints:
        made.add_row(
            _short(joint.name),
            TYPES[joint.kind],
            *map(_limit, (joint.lower, joint.upper, joint.velocity, joint.effort)),
            *(f"{joint.rotor_inertia:.4g}", f"{joint.viscous:.4g}", _coulomb(joint)),
        )
    return made


def _mdh_table(joints: Iterable[Joint]) -> Table:
    headings = [">" + heading for heading in MDH]
    made = table("Modified DH table: Rx(beta) Tx(b) Rz(theta) Tz(d)", ">joint", *headings)
    for i, joint in enumerate(joints, start=1):
        made.add_row(str(i), *_mdh_row(joint))
    return made


def _link_table(chain: Chain) -> Table:
    headings = "name", ">mass [kg]", ">centre of mass [m]", ">principal moments [kg m^2]"
    made = table("Links, in their joint's frame", *headings)
    for link in chain.links:
        moments = np.linalg.eigvalsh(link.inertia.about_com)
        row = f"{link.inertia.mass:.4g}", _centre(link.inertia), _numbers(moments)
        made.add_row(_short(link.name), *row)
    return made


# Notebook ----------------------------------------------------------------------------------------


def html(chain: Chain, title: str) -> str:
    """An arm for a notebook: its table and masses, a joint a row."""
    rows = []
    for i, (joint, link) in enumerate(zip(chain.joints, chain.links, strict=True), start=1):
        limits = _limit(joint.lower), _limit(joint.upper)
        mass, centre = f"{link.inertia.mass:.4g}", _centre(link.inertia)
        rows.append((str(i), _short(joint.name), *_mdh_row(joint), *limits, mass, centre))
    headings = "", "joint", *MDH, "lower", "upper", "mass [kg]", "centre of mass [m]"
    notes = "".join(f"<br>note: {escape(cut(note, NOTE))}" for note in chain.notes)
    return f"<p><b>{escape(title)}</b>{notes}</p>\n" + html_table(headings, rows, words=2)


# Cells -------------------------------------------------------------------------------------------


def _mdh_row(joint: Joint) -> tuple[str, ...]:
    """A joint under the headings MDH."""
    turning = joint.kind == "R"
    return (
        f"{joint.b:.6g}",
        f"{math.degrees(joint.beta):.6g}",
        f"{joint.d:.6g}" + ("" if turning else " + q"),
        f"{math.degrees(joint.theta):.6g}" + (" + q" if turning else ""),
    )


def _limit(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "-"


def _coulomb(joint: Joint) -> str:
    negative, positive = joint.coulomb
    return f"{positive:g}" if positive == -negative else f"{negative:g}/{positive:g}"


def _centre(body: Inertia) -> str:
    return _numbers(body.com) if body.mass else "-"


def _place(pose: Pose) -> str:
    turned = not np.array_equal(np.array(pose.rotation), np.eye(3))
    return f"{_numbers(pose.translation)} m{', turned,' if turned else ''}"


def _numbers(values: Iterable[float]) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in values) + ")"


def _short(name: str) -> str:
    return cut(name, NAME)
