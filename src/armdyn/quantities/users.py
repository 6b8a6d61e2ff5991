"""Methods that users bring: ``armdyn.register``."""

from __future__ import annotations

from armdyn.algorithms import catalogue
from armdyn.algorithms.method import Method
from armdyn.chain import Chain
from armdyn.errors import MethodError, cut, listed
from armdyn.quantities import SEVERAL, Formula, find
from armdyn.quantities.tasks import forget_costs, program_cost


def register(quantity: str, name: str, function: Formula, paper: str | None = None) -> None:
    """Add a method of one's own to a quantity, in this process.

    ``robot.methods``, ``armdyn.compare`` and ``armdyn.count`` treat it like those that ship, and
    ``method=name`` asks for it. Without ``method=`` a robot chooses it where it is the cheapest
    and, in a few random states of that arm, gives what the reference method gives; where it does
    not, a warning is logged. Functions that a robot has compiled already stay as they are.

    Args:
        quantity: its name.
        name: of the method.
        function: takes an ``Arm`` and the quantity's arguments, a list of n scalars each, and
            returns nested lists of scalars, of whatever kind the scalars are.
        paper: where it is from.

    Raises:
        MethodError: for a quantity that has no methods to choose from, a name that is taken, or a
            function that cannot be called that way.
    """
    asked = find(quantity)
    if asked.function:
        raise MethodError(
            f"{quantity} has one method only; a method can be registered for {listed(SEVERAL)}"
        )
    catalogue.add(quantity, name, function, paper, asked.arguments)
    forget_costs()


def refusal(chain: Chain, quantity: str, method: Method) -> str | None:
    """Why a method does not apply to this arm; None if it does. A registered one may be broken."""
    reason = method.refuses(chain.on(float))
    if reason is None and method.registered:
        try:
            program_cost(chain, quantity, method.name)
        except Exception as error:
            return f"it fails with {type(error).__name__}: {cut(str(error))}"
    return reason
