"""Method: a row of the catalogue, and why it may not apply to an arm."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from armdyn.chain.arm import Arm
    from armdyn.chain.at_call import View

FAR = 100.0  # times the largest m |c|^2 that a body can have: it costs as much accuracy


@dataclass(frozen=True)
class Method:
    """One way to compute one quantity.

    Attributes:
        name: as users call it.
        function: takes an Arm and the state; returns nested lists of scalars.
        paper: key in ``docs/references.bib``; "armdyn" for our own.
        where: the equations or table of that paper.
        view: the parameters it sees, "natural", "minimal", "flat", which are minimal too, or
            "mixed", which are minimal but for a payload given at the call.
        exact: False for an approximation, which is never chosen by itself.
        tried: False for one that is never chosen by itself: a variant that stands beside a paper's
            lines, where trying it would take the place of another, or one that saves operations by
            more sines, which are not counted among them.
        of: the quantities that it is made of. A robot computes each by the method of the same name
            or, where there is none, by the cheapest; ``function`` computes them as the paper does.
        join: makes such a function of functions that compute these quantities.
        refuses: why it does not apply to an arm, given its natural view; None if it does.
        registered: whether a user brought it, so that it is chosen only where it proves right.
    """

    name: str
    function: Callable[..., Any]
    paper: str
    where: str = ""
    view: View = "natural"
    exact: bool = True
    tried: bool = True
    of: tuple[str, ...] = ()
    join: Callable[..., Callable[..., Any]] | None = None
    refuses: Callable[[Arm], str | None] = lambda arm: None
    registered: bool = False


def without_centres(arm: Arm) -> str | None:
    """Why a method about centres of mass does not apply: a link, read with "warn", has none.

    Or one so far away that no body of its inertia has it, and what is computed there cancels: of
    any body m |c|^2 is at most half the trace of its tensor.
    """
    links = zip(arm.mass, arm.first_moment, arm.inertia, strict=True)
    for i, (m, h, J) in enumerate(links, start=1):
        if m < 0 or h @ h > FAR * m * max(0.0, J.xx + J.yy + J.zz):
            moment = ", ".join(f"{x:g}" for x in h)
            return f"link {i} has no centre of mass (mass {m:g} kg, first moment ({moment}) kg m)"
    return None
