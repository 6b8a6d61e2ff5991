"""[kang]'s inertial power, computed by the paper's formulas and not compiled: to be looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from armdyn.engine.calls import real_array
from armdyn.errors import MethodError, ShapeError, unknown
from armdyn.forks import importing

if TYPE_CHECKING:
    from armdyn.algorithms.kic_properties import Property
    from armdyn.chain import Chain

PowerModel = Literal["original", "augmented"]


class Influences:
    """What [kang] makes of influence coefficients besides the mass matrix."""

    chain: Chain

    def inertial_power(
        self, q: ArrayLike, *, model: PowerModel = "original"
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The terms (P1, P2, P3) of [kang]'s [P*], (..., n) -> (..., n, n, n) each.

        [P*] = P1 + P2 + P3, eq. 10, gives the velocity torque tau_i = qd^T P*[i] qd. Its symmetric
        part, (P*[i, j, k] + P*[i, k, j]) / 2, is ``christoffel``; element by element it is not.
        ``model="augmented"`` takes the paper's modified algorithm, eqs. 25 to 27, whose [P*] has
        the same symmetric part. It is computed on arrays by the paper's formulas, not compiled.
        """
        return _power(self.chain, _posture(self.chain, q), model)

    def inertial_power_properties(
        self, q: ArrayLike, *, model: PowerModel = "original"
    ) -> list[Property]:
        """[kang]'s properties (P1) to (P10) in the posture q, (n,): in our copy, and as they hold.

        A row each: ``name``, ``our_copy`` and ``reading`` in words, ``our_copy_off`` and
        ``reading_off``, by how much they fail relative to the largest element.
        """
        with importing:
            from armdyn.algorithms import kic, kic_augmented, kic_properties

        posture = _posture(self.chain, q)
        if posture.ndim != 1:
            raise ShapeError(f"q has shape {posture.shape}; expected one posture ({self.chain.n},)")
        P1, P2, P3 = _power(self.chain, posture, model)
        inertia = (kic if model == "original" else kic_augmented).mass_matrix
        effective = np.array(inertia(self.chain.on(float), posture.tolist()), float)
        return kic_properties.properties(kic_properties.Model(effective, P1, P2, P3))


def _posture(chain: Chain, q: ArrayLike) -> np.ndarray:
    posture = real_array("q", q).astype(float)
    if not posture.ndim or posture.shape[-1] != chain.n:
        raise ShapeError(f"q has shape {posture.shape}; expected (..., {chain.n})")
    return posture


def _power(
    chain: Chain, q: np.ndarray, model: PowerModel
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    with importing:
        from armdyn.algorithms import kic, kic_augmented
        from armdyn.algorithms.method import without_centres

    if not isinstance(model, str) or model not in get_args(PowerModel):
        raise MethodError(unknown("model", model, get_args(PowerModel)))
    arm = chain.on(float)
    if reason := without_centres(arm):
        raise MethodError(f"inertial_power does not apply to {chain.name}: {reason}")
    postures = [q[..., i] for i in range(chain.n)]
    if model == "original":
        terms = kic.inertial_power(kic.links(arm, postures))
    else:
        terms = kic_augmented.inertial_power_terms(arm, postures)
    P1, P2, P3 = (_stacked(term, q.shape[:-1]) for term in terms)
    return P1, P2, P3


def _stacked(nested: Any, batch: tuple[int, ...]) -> np.ndarray:
    """Nested lists of numbers and batches as one array, the batch axes first."""
    if not isinstance(nested, list):
        return np.broadcast_to(np.asarray(nested, float), batch)
    inner = [_stacked(part, batch) for part in nested]
    return np.stack(inner, axis=len(batch))
