"""The derivatives of any quantity of a Robot, as compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Unpack

from armdyn.chain import Chain
from armdyn.forks import importing
from armdyn.robot.options import Options, warn_if_approximate, with_options

Names = str | Sequence[str] | None


class Derivatives:
    """Derivatives of any quantity, and their products with vectors."""

    chain: Chain
    _functions: dict[Any, Callable[..., Any]]

    def derivative(
        self, quantity: str, wrt: Names = None, **options: Unpack[Options]
    ) -> Callable[..., Any]:
        """The function that gives all derivatives of a quantity: ``f(q, ...)``.

        It takes the quantity's arguments. The derivative of a result of shape S with respect to an
        argument x of n numbers has the shape ``(..., *S, n)``: the last index is that of x. There
        is one for each result and each argument of ``wrt``, those of the first result first, in the
        order of ``wrt``; where there are several they come as a tuple.

        Args:
            quantity: its name.
            wrt: with respect to which arguments, one name or several; to all if not given.
            options: ``method=`` names a formulation in place of the cheapest, ``frame=`` the frame
                of a quantity that has one, ``axes=`` the axes. With ``friction=True`` viscous
                friction counts; that of Coulomb jumps at standstill, and its derivative is 0
                everywhere. ``arguments=`` names what the function takes besides the state, as in
                ``function``, at ``payload_frame=`` and ``wrench_frame=``.

        Raises:
            MethodError: for an unknown name, or an option that the quantity does not have.
        """
        return self._derive("derivative", quantity, wrt, options)

    def jvp(
        self, quantity: str, wrt: Names = None, **options: Unpack[Options]
    ) -> Callable[..., Any]:
        """The function that gives a quantity's derivative along a direction.

        ``f(q, ..., q_tangent, ...)`` takes the quantity's arguments, then for each argument of
        ``wrt`` its tangent, of the same shape. It gives a tangent for each of the quantity's
        results: Jacobian times vector, without the Jacobian. Options as of ``derivative``.
        """
        return self._derive("jvp", quantity, wrt, options)

    def vjp(
        self, quantity: str, wrt: Names = None, **options: Unpack[Options]
    ) -> Callable[..., Any]:
        """The function that gives the gradient of a weighted sum of a quantity's numbers.

        ``f(q, ..., tau_cotangent)`` takes the quantity's arguments, then for each of its results
        the weights, of the same shape. It gives a gradient for each argument of ``wrt``, of that
        argument's shape: vector times Jacobian, without the Jacobian, for little more than twice
        what the quantity costs. Options as of ``derivative``.
        """
        return self._derive("vjp", quantity, wrt, options)

    def hvp(
        self, quantity: str, wrt: Names = None, **options: Unpack[Options]
    ) -> Callable[..., Any]:
        """The function that gives Hessian-vector products of a weighted sum of a quantity.

        ``f(q, ..., tau_cotangent, q_tangent, ...)`` takes the quantity's arguments, the weights of
        its results and a direction of the arguments of ``wrt``. It gives, for each argument of
        ``wrt``, how the gradient that ``vjp`` gives changes along the direction. Options as of
        ``derivative``.
        """
        return self._derive("hvp", quantity, wrt, options)

    def _derive(
        self, kind: str, quantity: str, wrt: Names, options: Mapping[str, Any]
    ) -> Callable[..., Any]:
        """The compiled function of a derivative."""
        with importing:
            from armdyn.engine import derived  # most robots never need it

        task = with_options(quantity, options)
        asked = derived.Derived(kind, task, derived.with_respect_to(task, wrt))
        function = self._functions.get(asked)
        if function is None:
            self.chain.find_frame(asked.task.frame)
            asked.task.check_given(self.chain)
            warn_if_approximate(asked.task, "a derivative of ")
            if asked.task.method is not None:
                asked = asked._replace(task=asked.task.settled(self.chain))
            function = self._functions.setdefault(asked, derived.function(self.chain, asked))
        return function
