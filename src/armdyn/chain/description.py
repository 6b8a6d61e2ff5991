"""An arm as people read it (tables) and as programs read it (JSON)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from armdyn.chain import Chain, Joint, checks
from armdyn.chain.inertia import Inertia
from armdyn.output.report import html_table, table

MDH = ("b [m]", "beta [deg]", "d [m]", "theta [deg]")


def summary(chain: Chain) -> dict[str, Any]:
    """One line about an arm."""
    return {
        "name": chain.name,
        "joints": chain.kinds,
        "mass_kg": chain.mass,
        "locked": len(chain.locked),
    }


def description(chain: Chain) -> dict[str, Any]:
    """All of an arm, in SI units and radians; infinite limits are null."""
    return {
        **summary(chain),
        "gravity": list(chain.gravity),
        "joints": [_joint(joint) for joint in chain.joints],
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
        "locked": dict(chain.locked),
        "notes": list(chain.notes),
        "findings": checks.findings(chain),
    }


def _joint(joint: Joint) -> dict[str, Any]:
    row = {key: getattr(joint, key) for key in Joint.__dataclass_fields__}
    row["type"] = {"R": "revolute", "P": "prismatic"}[row.pop("kind")]
    row["coulomb"] = list(joint.coulomb)
    return {key: None if value in (math.inf, -math.inf) else value for key, value in row.items()}


def robots_table(chains: Sequence[Chain]) -> Table:
    """The shipped arms, one row each."""
    made = table(
        "Arms that ship with armdyn", "name", ">n", "joints", ">mass [kg]", "locked joints"
    )
    for chain in chains:
        row = summary(chain)
        locked = ", ".join(name for name, _ in chain.locked)
        made.add_row(row["name"], str(chain.n), row["joints"], f"{row['mass_kg']:.2f}", locked)
    return made


def description_tables(chain: Chain) -> Iterator[RenderableType]:
    """What a person wants to see of an arm, part by part."""
    yield Text(
        f"{chain.name}: {chain.n} joints ({chain.kinds}), {chain.mass:.2f} kg moved", style="bold"
    )
    yield _joint_table(chain)
    yield _mdh_table(chain)
    yield _link_table(chain)
    yield Text(f"gravity {_numbers(chain.gravity)} m/s^2 in the base frame")
    yield Text("frames: " + ", ".join(chain.frame_names))
    for joint, position in chain.locked:
        yield Text(f"locked: {joint} at {position:g}")
    findings = checks.findings(chain)
    for note in chain.notes:
        if note not in findings:
            yield Text(f"note: {note}", style="yellow")
    for finding in findings:
        yield Text(f"inconsistent: {finding}", style="red")
    if not findings:
        yield Text("consistent: every link is a body that can exist, and every joint moves mass")


def html(chain: Chain, title: str) -> str:
    """An arm for a notebook: its table and masses, a joint a row."""
    rows = []
    for i, (joint, link) in enumerate(zip(chain.joints, chain.links, strict=True)):
        bounds = [f"{x:.4g}" if math.isfinite(x) else "-" for x in (joint.lower, joint.upper)]
        mass, com = f"{link.inertia.mass:.4g}", _centre(link.inertia)
        rows.append((str(i + 1), joint.name, *_mdh_row(joint), *bounds, mass, com))
    headings = "", "joint", *MDH, "lower", "upper", "mass [kg]", "centre of mass [m]"
    notes = "".join(f"<br>note: {escape(note)}" for note in chain.notes)
    return f"<p><b>{escape(title)}</b>{notes}</p>\n" + html_table(headings, rows, words=2)


def _joint_table(chain: Chain) -> Table:
    made = table(
        "Joints [rad, N m; prismatic: m, N]",
        *(
            "name",
            "type",
            ">lower",
            ">upper",
            ">speed",
            ">effort",
            ">rotor",
            ">viscous",
            ">coulomb",
        ),
    )
    for joint in chain.joints:
        limits = (joint.lower, joint.upper, joint.velocity, joint.effort)
        negative, positive = joint.coulomb
        friction = f"{positive:g}" if positive == -negative else f"{negative:g}/{positive:g}"
        made.add_row(
            joint.name,
            {"R": "revolute", "P": "prismatic"}[joint.kind],
            *(f"{value:.4g}" if math.isfinite(value) else "-" for value in limits),
            *(f"{joint.rotor_inertia:.4g}", f"{joint.viscous:.4g}", friction),
        )
    return made


def _mdh_table(chain: Chain) -> Table:
    made = table(
        "Modified DH table: Rx(beta) Tx(b) Rz(theta) Tz(d)",
        *(">row", *(">" + heading for heading in MDH)),
    )
    for i, joint in enumerate(chain.joints):
        made.add_row(str(i + 1), *_mdh_row(joint))
    for name, pose in (("base", chain.base), ("tip", chain.tip)):
        made.add_row(name, "", "", _numbers(pose.translation), "" if _upright(pose) else "turned")
    return made


def _mdh_row(joint: Joint) -> tuple[str, ...]:
    """A joint under the headings MDH."""
    turning = joint.kind == "R"
    return (
        f"{joint.b:.6g}",
        f"{math.degrees(joint.beta):.6g}",
        f"{joint.d:.6g}" + ("" if turning else " + q"),
        f"{math.degrees(joint.theta):.6g}" + (" + q" if turning else ""),
    )


def _link_table(chain: Chain) -> Table:
    made = table(
        "Links, in their joint's frame",
        *("name", ">mass [kg]", ">centre of mass [m]", ">principal moments [kg m^2]"),
    )
    for link in chain.links:
        moments = np.linalg.eigvalsh(link.inertia.about_com)
        row = f"{link.inertia.mass:.4g}", _centre(link.inertia), _numbers(moments)
        made.add_row(link.name, *row)
    return made


def _centre(body: Inertia) -> str:
    return _numbers(body.com) if body.mass else "-"


def _upright(pose: Any) -> bool:
    return bool(np.array_equal(np.array(pose.rotation), np.eye(3)))


def _numbers(values: Any) -> str:
    return "(" + ", ".join(f"{value:.4g}" for value in values) + ")"
