"""The arms that ship, on the site: living pages, a picture, and a page of numbers for each.

All of it is made when the site is built. ``arms/NAME.md`` is written beside the other pages and not
kept in the repository; ``living/NAME.html``, which ``armdyn view`` writes, goes to the site alone.
"""

from __future__ import annotations

import re
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.util import logging

import armdyn
from armdyn import cli, models
from armdyn.algorithms import kinematics
from armdyn.quantities.tasks import cheapest

log = logging.getLogger(__name__)
PAGES = Path(__file__).parent / "arms"
QUANTITIES = ("mass_matrix", "bias", "inverse_dynamics", "forward_dynamics")
BEND = 0.6  # rad: a stretched arm is a poor picture
SIZE, MARGIN = 220, 28  # of a picture
EYE = np.array([[-0.5, 0.85, 0.0], [0.25, 0.15, -0.95]])  # right and down, in base axes


def setup(app: Any) -> dict[str, Any]:
    """Joins Sphinx."""
    app.add_directive("living-arm", LivingArm)
    app.add_directive("gallery", Gallery)
    app.connect("builder-inited", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def write(app: Any) -> None:
    """The pages of all arms, and their living pages."""
    PAGES.mkdir(exist_ok=True)
    for name in armdyn.robots():
        text, path = page(name), PAGES / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")  # else Sphinx need not read it again
    if app.builder.format == "html":
        folder = Path(app.outdir) / "living"
        folder.mkdir(parents=True, exist_ok=True)
        for name in armdyn.robots():
            command = ["view", name, "--save", str(folder / f"{name}.html"), "--no-open"]
            with redirect_stdout(StringIO()):
                if cli.main(command):
                    log.warning("armdyn %s failed", " ".join(command))


class LivingArm(Directive):
    """``{living-arm} panda``: the arm's living page in a frame."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """The frame, as HTML."""
        (name,) = self.arguments
        document = self.state.document.settings.env.docname
        link = "../" * document.count("/") + f"living/{name}.html"
        return raw(
            f'<div class="arm"><iframe src="{link}" title="{name}, alive" loading="lazy"></iframe>'
            f'<p><a href="{link}">the whole page</a></p></div>'
        )


class Gallery(Directive):
    """``{gallery}``: a card for each arm that ships, which leads to its page."""

    def run(self) -> list[nodes.Node]:
        """The cards, as HTML."""
        return raw(f'<div class="cards">{"".join(map(card, armdyn.robots()))}</div>')


def raw(html: str) -> list[nodes.Node]:
    """A node that is written as it is."""
    return [nodes.raw("", html, format="html")]


def card(name: str) -> str:
    """An arm's picture, what it is, and the way to its page."""
    robot = armdyn.load(name)
    return (
        f'<a class="card" href="arms/{name}.html">{picture(robot)}<strong>{name}</strong>'
        f"<span>{robot.chain.kinds}, {robot.chain.mass:.3g} kg</span></a>"
    )


def picture(robot: armdyn.Robot) -> str:
    """The arm as lines from joint to joint, in SVG."""
    arm, q = robot.chain.on(float), posture(robot)
    placed = [*kinematics.frames(arm, q), kinematics.named_frame(arm, q)]
    points = np.array([[0.0, 0.0, 0.0], *(list(frame.o) for frame in placed)]) @ EYE.T
    low, high = points.min(axis=0), points.max(axis=0)
    points = (points - (low + high) / 2) * (SIZE - 2 * MARGIN) / (high - low).max() + SIZE / 2
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    joints = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6"/>' for x, y in points[2:-1])
    x, y = points[0]
    return (
        f'<svg viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="{robot.name}">'
        f'<path d="M{x - 22:.1f},{y:.1f}h44"/><polyline points="{line}"/>{joints}</svg>'
    )


def posture(robot: armdyn.Robot) -> list[float]:
    """The middle of each joint's range, bent a little where that is no angle."""
    limits = np.where(np.isfinite(robot.position_limits), robot.position_limits, 0.0)
    middle = limits.mean(axis=1)
    stretched = np.abs(np.sin(middle)) < 0.1
    return [float(q) + (BEND if k and stretched[k] else 0.0) for k, q in enumerate(middle)]


# The page of an arm ------------------------------------------------------------------------------

JOINTS = ["joint", "type", "from", "to", "speed", "effort"]
FRAMES = ["joint", "$b$ [m]", r"$\beta$ [deg]", "$d$ [m]", r"$\theta$ [deg]"]
LINKS = ["link", "mass [kg]", "centre of mass [m]"]
COSTS = ["quantity", "method", "multiplications", "additions", "sines, with cosines"]


def page(name: str) -> str:
    """Its living page, its joints, links and costs, and where it is from."""
    robot = armdyn.load(name)
    return f"""\
# {name}

{origin(name)} It has {robot.n} joints ({robot.chain.kinds}) and moves {robot.chain.mass:.4g} kg.

```{{living-arm}} {name}
```

## Joints

{table(JOINTS, joints(robot))}

## Frames

{table(FRAMES, frames(robot))}

[Notation](../notation.md#frames) says what they mean.

## Links

{table(LINKS, links(robot))}

## Cost

Operations a state of the cheapest method, which armdyn chooses by itself:

{table(COSTS, costs(robot))}
"""


def origin(name: str) -> str:
    """The first sentence of its file."""
    file = next(Path(models.__path__[0]).glob(f"{name}.*"))
    text = re.sub(r"\n#? *", " ", file.read_text(encoding="utf-8"))
    found = re.search(r"(?:<!--|^#) (.*?[.:]) ", text)
    assert found, name
    return f"{found[1][:-1]}."


def joints(robot: armdyn.Robot) -> list[list[str]]:
    """A row a joint: its limits."""
    rows = []
    for joint, kind in zip(robot.chain.joints, robot.chain.kinds, strict=True):
        unit, torque = ("rad", "N m") if kind == "R" else ("m", "N")
        numbers = zip(
            (joint.lower, joint.upper, joint.velocity, joint.effort),
            (unit, unit, f"{unit}/s", torque),
            strict=True,
        )
        turns = "revolute" if kind == "R" else "prismatic"
        rows.append([joint.name, turns, *(f"{x:.4g} {u}" for x, u in numbers)])
    return rows


def frames(robot: armdyn.Robot) -> list[list[str]]:
    """A row a joint: its line of the modified DH table."""
    rows = []
    for joint, kind in zip(robot.chain.joints, robot.chain.kinds, strict=True):
        beta, theta = np.degrees([joint.beta, joint.theta])
        turn, slide = (" + q", "") if kind == "R" else ("", " + q")
        rows.append(
            [joint.name, f"{joint.b:.4g}", f"{beta:.4g}"]
            + [f"{joint.d:.4g}{slide}", f"{theta:.4g}{turn}"]
        )
    return rows


def links(robot: armdyn.Robot) -> list[list[str]]:
    """A row a link: its mass and where that is."""
    return [
        [
            link.name,
            f"{link.inertia.mass:.4g}",
            ", ".join(f"{x:.4g}" for x in link.inertia.com) if link.inertia.mass else "none",
        ]
        for link in robot.chain.links
    ]


def costs(robot: armdyn.Robot) -> list[list[str]]:
    """A row a quantity: what its program takes."""
    rows = []
    for quantity in QUANTITIES:
        count = armdyn.count(robot, quantity, kind="program")
        method, additions = cheapest(robot.chain, quantity), str(count.add + count.double)
        rows.append([f"`{quantity}`", f"`{method}`", str(count.mul), additions, str(count.trig)])
    return rows


def table(heading: list[str], rows: list[list[str]]) -> str:
    """A table in Markdown."""
    lines = [heading, ["---"] * len(heading), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
