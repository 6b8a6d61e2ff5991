"""What a call gives in place of an arm's own constants: payload, gravity, parameters, as scalars.

Torque is linear in the inertial parameters, and so is every regrouping of them. So a payload is
regrouped by itself, or not at all, and added to what the arm's own links are regrouped to, which
stays constant.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from armdyn.chain.flat import flattened
from armdyn.chain.inertia import Inertia
from armdyn.chain.minimal import regrouped, seen_from_matrix
from armdyn.errors import ModelError, cut, shorten
from armdyn.spatial import Scalar
from armdyn.spatial.matrices import linear

if TYPE_CHECKING:
    from armdyn.chain import Chain

View = Literal["natural", "minimal", "mixed", "flat"]


class AtCall(NamedTuple):
    """What a call gives; None for what it does not give.

    Attributes:
        payload: the ten parameters of a load in the order "pinocchio", about the origin of a frame
            and in its axes.
        payload_frame: that frame; None means the tip.
        gravity: the acceleration of free fall in the base frame, three scalars [m/s^2].
        parameters: ten a link, in the order of ``chain.parameters``, in place of the links' own.
    """

    payload: Sequence[Scalar] | None = None
    payload_frame: str | None = None
    gravity: Sequence[Scalar] | None = None
    parameters: Sequence[Scalar] | None = None


NOTHING = AtCall()


def bodies(
    chain: Chain, view: View, number: Callable[[float], Scalar], call: AtCall
) -> list[Inertia]:
    """The links as a view has them, with what a call gives; constants are still doubles."""
    any_gravity = call.gravity is not None
    if call.parameters is not None:
        tens = [call.parameters[10 * i : 10 * i + 10] for i in range(chain.n)]
        links = [Inertia.from_ten(ten) for ten in tens]
        return viewed(chain, view, _with_load(chain, links, number, call), number, any_gravity)
    own = chain.seen_as(view, any_gravity)
    if call.payload is None:
        return own
    load = _with_load(chain, [Inertia.from_ten([0] * 10) for _ in chain.links], number, call)
    if view != "mixed":
        load = viewed(chain, view, load, number, any_gravity)
    return [_sum(body, more) for body, more in zip(own, load, strict=True)]


def viewed(
    chain: Chain,
    view: View,
    links: Sequence[Inertia],
    number: Callable[[float], Scalar] = float,
    any_gravity: bool = False,
) -> list[Inertia]:
    """Natural bodies of any scalars, a body a link, as a view has them."""
    if view == "natural":
        return list(links)
    minimal = regrouped(chain, links, number, any_gravity)
    return flattened(chain, minimal, number) if view == "flat" else minimal


def loaded_link(chain: Chain, frame: str | None) -> int:
    """The link that carries a payload at a frame."""
    link, _ = chain.find_frame(frame)
    if link < 0:
        raise ModelError(
            f"{cut(chain.name)}: frame {shorten(frame)} does not move, so no joint feels a payload "
            "there"
        )
    return link


def _with_load(
    chain: Chain, links: list[Inertia], number: Callable[[float], Scalar], call: AtCall
) -> list[Inertia]:
    """Natural bodies with the payload, if there is one, added to the link that carries it."""
    if call.payload is None:
        return links
    link, (_, pose) = loaded_link(chain, call.payload_frame), chain.find_frame(call.payload_frame)
    load = Inertia.from_ten(linear(seen_from_matrix(pose), call.payload, number))
    return [_sum(body, load) if i == link else body for i, body in enumerate(links)]


def _sum(one: Inertia, other: Inertia) -> Inertia:
    """Two bodies fixed to each other, of any scalars."""
    return Inertia.from_ten([x + y for x, y in zip(one.ten, other.ten, strict=True)])
