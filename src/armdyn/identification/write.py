"""An identified arm as a file: TOML, or the user's own URDF with nothing but its numbers changed.

What a joint moves may be several links of a URDF, fixed to one another: the difference between the
identified body and the file's goes to the link that the joint moves, in that link's frame.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from armdyn.chain import Chain, Frame, Joint
from armdyn.chain.dh import SNAP
from armdyn.chain.inertia import Inertia
from armdyn.chain.limits import MAX_BYTES
from armdyn.chain.parts import File
from armdyn.chain.writers import TENSOR, inertial, left_out, lost_tip, to_urdf
from armdyn.errors import IdentificationError, ModelError, cut, shorten
from armdyn.identification.spans import Edits
from armdyn.loaders.markup import Element, parse
from armdyn.loaders.normal_frames import ROUNDING
from armdyn.loaders.serial import lumped
from armdyn.loaders.tree import Tree, TreeLink
from armdyn.loaders.urdf import MOVING, Reader
from armdyn.output.files import check_writable, written

EXACT = 1e-13  # relative, to which a link must hold what it is given
CHECKED = 1e-9  # relative, to which a file must read as what was written


def save(
    chain: Chain, path: str | os.PathLike[str], template: str | os.PathLike[str] | None = None
) -> tuple[str, ...]:
    """Write an arm to a ``.toml`` or ``.urdf`` file, whole or not at all.

    Args:
        chain: the arm, as it was loaded but for its inertias, friction and rotors.
        path: of the file to write.
        template: the URDF to write into; the one that the chain was loaded from if not given. An
            arm that comes from no URDF gets one of its own.

    Returns:
        Notes on what has no place in such a file.
    """
    suffix = Path(path).suffix.lower()
    if suffix not in (".toml", ".urdf"):
        raise IdentificationError(
            f"cannot save to {shorten(str(path))}; expected a name in .toml or .urdf"
        )
    check_writable(Path(path))
    notes: list[str] = []
    if suffix == ".toml":
        text = chain.to_toml().encode()
    else:
        notes += left_out(chain)
        file = chain.file
        if template is not None:
            file = File(os.fspath(template), SNAP if chain.file is None else chain.file.snap)
        if file is None:
            notes += ["the arm comes from no URDF file: it gets one of its own", *lost_tip(chain)]
        text = to_urdf(chain).encode() if file is None else _into(file, chain, notes)
    with written(Path(path)) as place:
        place.write_bytes(text)
    return tuple(notes)


# Into a URDF --------------------------------------------------------------------------------


def _into(file: File, chain: Chain, notes: list[str]) -> bytes:
    """The text of a URDF with the numbers of a chain."""
    label = cut(os.path.basename(file.path))
    try:
        if os.path.getsize(file.path) > MAX_BYTES:
            raise IdentificationError(f"{label} has more than {MAX_BYTES} bytes")
        text = Path(file.path).read_bytes()
        source = Description(text, file.snap)
        source.check_arm(chain)
        edited = source.edited(chain, notes)
        again = Description(edited, file.snap)
    except OSError as error:
        raise IdentificationError(
            f"cannot read {shorten(file.path)}: {error.strerror or error}"
        ) from None
    except ModelError as error:
        raise IdentificationError(f"{label}: {error}") from None
    except IdentificationError as error:
        raise IdentificationError(f"{label}: {error}") from None
    for i, link in enumerate(chain.links):
        wanted, found = link.inertia.parameters(), again.body(chain, i).parameters()
        if abs(found - wanted).max() > CHECKED * abs(wanted).max():
            raise IdentificationError(
                f"{label}: link {shorten(link.name)} would be read with the inertial parameters "
                f"{shorten(found.tolist())}, not {shorten(wanted.tolist())}"
            )
    return edited


class Description:
    """The text of a URDF, its elements, and what a loader made of them."""

    def __init__(self, text: bytes, snap: float) -> None:
        self.text, self.root = text, parse(text)
        self.reader = Reader(max(snap, ROUNDING), "warn")
        self.links = {each.text("name"): each for each in self.root.named("link")}
        self.joints = {each.text("name"): each for each in self.root.named("joint")}
        self.tree = Tree(
            [self.reader.link(each) for each in self.links.values()],
            [self.reader.joint(each) for each in self.joints.values()],
        )

    def check_arm(self, chain: Chain) -> None:
        """Refuse a file that is not the one of this arm."""
        for joint, link in zip(chain.joints, chain.links, strict=True):
            found = self.tree.joints.get(joint.name)
            if found is None or found.type not in MOVING or found.child != link.name:
                raise IdentificationError(
                    f"no joint {shorten(joint.name)} that moves link {shorten(link.name)}; "
                    "expected the file that the arm was loaded from"
                )
        placed = {frame.name for frame in chain.frames}
        for each in self.tree.below(self.tree.joints[chain.joints[0].name].parent):
            if each.child not in placed:
                raise IdentificationError(
                    f"link {shorten(each.child)} has no place in the arm; expected the file that "
                    "the arm was loaded from"
                )

    def frames(self, chain: Chain, i: int) -> list[Frame]:
        """The links of this file that body i of a chain is made of."""
        return [each for each in chain.frames if each.link == i and each.name in self.links]

    def body(self, chain: Chain, i: int) -> Inertia:
        """Body i as this file has it, in E_i."""
        return lumped(self.tree, self.frames(chain, i))

    def edited(self, chain: Chain, notes: list[str]) -> bytes:
        """The text with a chain's numbers."""
        edits = Edits(self.text, self.root)
        for i, link in enumerate(chain.links):
            more = link.inertia.parameters() - self.body(chain, i).parameters()
            if more.any():
                self._change_body(edits, chain, i, more, notes)
        for joint in chain.joints:
            self._change_friction(edits, joint)
        return edits.applied()

    # Inertia ----------------------------------------------------------------------------------

    def _change_body(
        self, edits: Edits, chain: Chain, i: int, more: np.ndarray, notes: list[str]
    ) -> None:
        """Adds ``more``, ten parameters in E_i, to a link of body i: its joint's, if that can be.

        A link without mass cannot be given a first moment alone; then the heaviest is given it.
        """
        frames = sorted(self.frames(chain, i), key=lambda f: -self.tree.links[f.name].inertia.mass)
        name = chain.links[i].name
        first = [frame for frame in frames if frame.name == name]
        for frame in first + [each for each in frames if each.name != name]:
            link = self.tree.links[frame.name]
            body = link.inertia.seen_from(frame.pose @ link.inertial)
            there = Inertia.from_parameters(body.parameters() + more)
            own = there.seen_from(frame.pose.inverse())
            if _can_be_written(own):
                break
        else:
            raise IdentificationError(
                f"link {shorten(name)} would have no mass but a first moment, which a URDF cannot "
                "say; a .toml file can"
            )
        if frame.name != name:
            notes.append(
                f"link {shorten(name)} has no mass of its own: what joint "
                f"{shorten(chain.joints[i].name)} moves was changed in link {shorten(frame.name)}"
            )
        for finding in own.findings():
            notes.append(
                f"link {shorten(frame.name)} alone could be no body ({finding}); with the links "
                "fixed to it, it is the one identified"
            )
        self._change_link(edits, self.links[frame.name], link, own)

    def _change_link(self, edits: Edits, element: Element, link: TreeLink, body: Inertia) -> None:
        """Writes a body, given in its link's frame, keeping the axes that the file has."""
        found = self.reader.only(element, "inertial")
        if found is None:
            edits.insert_first(element, inertial(body))
            return
        R = np.array(link.inertial.rotation)
        J = R.T @ body.about_com @ R
        edits.set_numbers(found.needed("mass"), "value", [body.mass])
        for key, place in TENSOR.items():
            edits.set_numbers(found.needed("inertia"), key, [float(J[place])])
        origin = self.reader.only(found, "origin")
        if origin is not None:
            edits.set_numbers(origin, "xyz", body.com.tolist())
        elif body.com.any():
            edits.insert_first(found, [f'<origin xyz="{" ".join(map(repr, body.com.tolist()))}"/>'])

    # Friction ---------------------------------------------------------------------------------

    def _change_friction(self, edits: Edits, joint: Joint) -> None:
        element = self.joints[joint.name]
        dynamics = self.reader.only(element, "dynamics")
        friction = (joint.coulomb[1] - joint.coulomb[0]) / 2
        if dynamics is not None:
            edits.set_numbers(dynamics, "damping", [joint.viscous])
            edits.set_numbers(dynamics, "friction", [friction])
        elif joint.viscous or friction:
            said = f'<dynamics damping="{joint.viscous!r}" friction="{friction!r}"/>'
            edits.insert_last(element, [said])


def _can_be_written(body: Inertia) -> bool:
    """Whether mass, centre and tensor about it say all that there is."""
    said = Inertia.from_com(body.mass, body.com, body.about_com)
    wanted, found = body.parameters(), said.parameters()
    return bool(abs(found - wanted).max() <= EXACT * abs(wanted).max())
