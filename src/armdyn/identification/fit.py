"""Least squares on moments: the parameters, how sure they are, and what the data cannot tell.

With joint variances s_i^2 the sum over joints and rows of (tau_i - W_i theta)^2 / s_i^2 is
|R (theta - origin) - rho|^2 and a constant; R and rho come from the moments, cleared of directions
that the data do not resolve. With instruments Z it is the same sum projected on Z (two-stage least
squares). Standard deviations are those of the scores of contiguous parts of the record: noise is
coloured, and rows are not independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from armdyn.errors import IdentificationError
from armdyn.forks import importing
from armdyn.identification.moments import Moments

METHODS = ("ols", "wls", "irls")
RESOLVED = 1e-14  # of the largest eigenvalue of W'W scaled to unit columns
UNFELT = 1e-9  # of the largest column: there is nothing but rounding in it
INVOLVED = 1e-5  # a smaller part in an unresolved direction is rounding
EXACT = 1e-10  # of the torque: errors below it are taken to be so large
STILL = 1e-3  # of the fastest joint's speed: one that is slower says nothing of its drive
LEVERAGE = 0.1  # a part may have determined all but so much of a direction
ROUNDS = 30  # of reweighting
UNCHANGED = 1e-6  # relative change of all variances that ends it


class Equations(NamedTuple):
    """R (rank, count) and rho (rank,): see above; the moments they come from, and the weights."""

    R: np.ndarray
    rho: np.ndarray
    moments: Moments
    weights: np.ndarray  # 1 / s_i^2 of each joint
    projector: np.ndarray | None  # of the instruments' scores, (count, count)

    @property
    def pseudo_inverse(self) -> np.ndarray:
        """R^+, (count, rank)."""
        return np.linalg.pinv(self.R, rcond=1e-9)

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """What each part pulls the parameters by, (parts, count); without noise it is zero."""
        e = self.moments.origin - theta
        found = np.zeros((self.moments.groups, len(theta)))
        for i, felt in enumerate(self.moments.columns.felt):
            sums = self.moments.crosses[i][:, 0] if self.moments.crosses else self.moments.grams[i]
            found[:, felt] += self.weights[i] * sums[:, 1:] @ np.concatenate([[1.0], e[felt]])
        return found if self.projector is None else found @ self.projector.T


def equations(moments: Moments, weights: np.ndarray) -> Equations:
    """The weighted normal equations, in square-root form."""
    felt = moments.columns.felt
    if not moments.crosses:
        grams = [gram.sum(axis=0) for gram in moments.grams]
        H, f = _assembled(grams, weights, felt)
        return Equations(*_square_root(H, f), moments, weights, None)
    A, f = _assembled([cross[:, 0].sum(axis=0) for cross in moments.crosses], weights, felt)
    ZZ, _ = _assembled([cross[:, 1].sum(axis=0) for cross in moments.crosses], weights, felt)
    D = _scale(ZZ)
    projector = A.T @ (D[:, None] * np.linalg.pinv(D[:, None] * ZZ * D, RESOLVED, True) * D)
    return Equations(*_square_root(projector @ A, projector @ f), moments, weights, projector)


def _assembled(
    grams: list[np.ndarray], weights: np.ndarray, felt: tuple[np.ndarray, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """The weighted sum over joints of W'W, (count, count), and W'tau, (count,)."""
    count = 1 + max(int(k.max()) for k in felt)
    H, f = np.zeros((count, count)), np.zeros(count)
    for gram, weight, k in zip(grams, weights, felt, strict=True):
        H[np.ix_(k, k)] += weight * gram[1:, 1:]
        f[k] += weight * gram[1:, 0]
    return H, f


def _scale(H: np.ndarray) -> np.ndarray:
    """What makes the diagonal of D H D one; 0 where it is zero."""
    diagonal = np.sqrt(np.maximum(H.diagonal(), 0.0))
    return np.divide(1.0, diagonal, out=np.zeros_like(diagonal), where=diagonal > 0)


def _square_root(H: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R and rho with R'R = H and R'rho = f, without what is not resolved."""
    D = _scale(H)
    values, V = np.linalg.eigh(D[:, None] * (H + H.T) / 2 * D)
    seen = values > RESOLVED * values[-1]
    root, V = np.sqrt(values[seen]), V[:, seen]
    undo = np.divide(1.0, D, out=np.zeros_like(D), where=D > 0)
    return root[:, None] * V.T * undo, (V.T @ (D * f)) / root


# Least squares ------------------------------------------------------------------------------------


class LeastSquares(NamedTuple):
    """A fit: theta, the joints' standard deviations, and the equations it solves.

    ``theta`` is as near as can be to ``prior`` in what the data do not tell.
    """

    theta: np.ndarray
    sigma: np.ndarray  # of each joint's torque
    equations: Equations

    @property
    def covariance(self) -> np.ndarray:
        """Of theta, (count, count); infinite on the diagonal for what is not determined."""
        return sandwich(self.equations, self.theta)

    @property
    def condition(self) -> float:
        """Of the weighted regressor scaled to unit columns, where it is resolved."""
        return condition(self.equations.R)


def least_squares(moments: Moments, prior: np.ndarray, method: str = "wls") -> LeastSquares:
    """The parameters of least error.

    Args:
        moments: of the data.
        prior: parameters to keep in what the data do not tell.
        method: "ols": all joints count alike; "wls": by the variances that "ols" leaves; "irls":
            by the variances that it leaves itself.
    """
    check_rows(moments)
    rows = moments.rows.sum(axis=0)
    here = rows > 0
    weights = here.astype(float)
    solved = equations(moments, weights)
    theta = _nearest(solved, prior)
    sigma = deviations(moments, theta)
    for _ in range({"ols": 0, "wls": 1, "irls": ROUNDS}[method]):
        before = sigma
        weights = np.where(here, 1 / sigma**2, 0.0)
        solved = equations(moments, weights)
        theta = _nearest(solved, prior)
        sigma = deviations(moments, theta)
        if np.abs(sigma / before - 1).max() < UNCHANGED:
            break
    return LeastSquares(theta, sigma, solved)


def at_rest(moments: Moments) -> np.ndarray:
    """Which parameters are drives of joints that hardly move, True or False (count,).

    Their columns are rounding or noise of the encoder: a fit to them may find any value. A joint
    hardly moves where its speed, or its acceleration, is STILL of the fastest joint's; and where
    its column is UNFELT of the largest.
    """
    columns, found = moments.columns, np.zeros(moments.columns.count, bool)
    rms = np.zeros(columns.count)  # of each parameter's column, for the joint that feels it most
    for gram, rows, felt in zip(moments.grams, moments.rows.T, columns.felt, strict=True):
        squares = np.einsum("gii->i", gram)[1:] / max(rows.sum(), 1)
        rms[felt] = np.maximum(rms[felt], np.sqrt(np.maximum(squares, 0.0)))
    still = np.zeros(columns.chain.n, bool)
    for drive in ("viscous", "coulomb", "rotor"):  # a slow joint's rotor is at rest as well
        here = rms[columns.place(drive)]
        if drive != "coulomb" and here.size:
            still = still | (here <= max(STILL * here.max(), UNFELT * rms.max()))
        if here.size:
            found[columns.place(drive)] = still
    return found


def condition(R: np.ndarray) -> float:
    """Of a matrix scaled to unit columns, where it is resolved."""
    norms = np.linalg.norm(R, axis=0)
    felt = norms > UNFELT * norms.max()
    singular = np.linalg.svd(R[:, felt] / norms[felt], compute_uv=False)
    return float(singular[0] / singular[singular > np.sqrt(RESOLVED) / 10 * singular[0]][-1])


def check_rows(moments: Moments) -> None:
    """Refuse records that say less than is asked."""
    rows, count = int(moments.rows.sum()), moments.columns.count
    if rows < count:
        raise IdentificationError(
            f"{rows} torques for {count} parameters; expected more of them than parameters"
        )


def deviations(moments: Moments, theta: np.ndarray) -> np.ndarray:
    """The standard deviation of each joint's torque from its prediction, (n,)."""
    rows = np.maximum(moments.rows.sum(axis=0), 1)
    share = moments.columns.count / len(rows)  # of the parameters, that a joint fits
    errors = moments.squared_errors(theta).sum(axis=0) / np.maximum(rows - share, 1)
    size = moments.rms(np.zeros_like(theta))
    return np.maximum(np.sqrt(errors), EXACT * np.where(size > 0, size, 1.0))


def _nearest(solved: Equations, prior: np.ndarray) -> np.ndarray:
    """The least-squares solution that is nearest to the prior, in units of the columns' size."""
    R, rho, moments = solved.R, solved.rho, solved.moments
    norms = np.linalg.norm(R, axis=0)
    size = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    missing = rho - R @ (prior - moments.origin)
    step, *_ = np.linalg.lstsq(R * size, missing, rcond=np.sqrt(RESOLVED) / 10)
    return prior + size * step


def sandwich(solved: Equations, theta: np.ndarray, half: np.ndarray | None = None) -> np.ndarray:
    """The covariance of theta by what contiguous parts of the record change in it, (count, count).

    Each part is left out in turn: theta then moves by (A - H_g)^-1 s_g, s_g its score, H_g its
    share of H = W'W, and A the Hessian, H and that of the prior. What neighbouring parts have in
    common, where noise is slow, widens it. A prior pulls theta off: it is taken to be off as much
    as its weight says, in units of the noise found (Nychka's intervals). The covariance is infinite
    on the diagonal for what is not determined, and zero beside it.

    Args:
        solved: the equations.
        theta: their solution.
        half: with half half' = A^-1, (count, any); without a prior if not given.
    """
    R, moments = solved.R, solved.moments
    norms = np.linalg.norm(R, axis=0)
    size = np.divide(1.0, norms, out=np.zeros_like(norms), where=norms > 0)
    _, s, Vt = np.linalg.svd(R * size, full_matrices=True)
    rank = int((s > np.sqrt(RESOLVED) / 10 * s[0]).sum())
    if half is None:
        half = size[:, None] * Vt[:rank].T / s[:rank]
    moves = np.array(
        [half @ _left_out(solved, half, g, score) for g, score in enumerate(solved.scores(theta))]
    )
    groups = moments.groups
    covariance = (1 - 1 / groups) * moves.T @ moves * _in_common(moves)
    share, V = np.linalg.eigh(half.T @ (R.T @ R) @ half)  # of the data in each direction
    alike = ((half @ V) ** 2 @ np.clip(share, 0, 1)) @ norms**2  # were rows independent
    pull = half @ (V * np.sqrt(np.clip(1 - share, 0, 1)))
    noise = (covariance.diagonal() @ norms**2) / alike
    covariance = covariance + noise * pull @ pull.T
    unknown = (np.linalg.norm(Vt[rank:], axis=0) > INVOLVED) | (norms == 0)
    covariance[unknown] = covariance[:, unknown] = 0.0
    covariance[unknown, unknown] = np.inf
    return covariance


def _left_out(solved: Equations, half: np.ndarray, g: int, score: np.ndarray) -> np.ndarray:
    """(1 - half' H_g half)^-1 half' score of part g."""
    pulled = half.T @ score
    if solved.projector is not None:
        return pulled
    grams = [gram[g] for gram in solved.moments.grams]
    H, _ = _assembled(grams, solved.weights, solved.moments.columns.felt)
    values, V = np.linalg.eigh(half.T @ H @ half)
    return V @ ((V.T @ pulled) / np.maximum(1 - values, LEVERAGE))


def _in_common(moves: np.ndarray) -> float:
    """By how much correlation of neighbours widens the covariance, a factor of at least 1."""
    size = np.sqrt((moves**2).mean(axis=0))
    u = moves[:, size > 0] / size[size > 0]
    return 1 + 2 * max(0.0, float((u[1:] * u[:-1]).sum() / max(u.size, 1)))


# What the data tell -------------------------------------------------------------------------------


class Undetermined(NamedTuple):
    """What a record tells of each natural parameter, drive and column of a user, by name.

    Attributes:
        zero: nothing, no torque of it was felt.
        combined: only in combination with others.
        determined: its value.
    """

    zero: tuple[str, ...]
    combined: tuple[str, ...]
    determined: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join(
            f"{key}: {', '.join(getattr(self, key)) or 'none'}" for key in self._fields
        )


def undetermined(solved: Equations) -> Undetermined:
    """Which parameters of links ("XX2", "MY3"), drives ("viscous_1") and columns are determined."""
    columns = solved.moments.columns
    return told_by(solved.R @ columns.natural, natural_names(solved.moments))


def told_by(B: np.ndarray, names: list[str]) -> Undetermined:
    """What equations with such columns tell of the parameters of these names."""
    norms = np.linalg.norm(B, axis=0)
    felt = norms > UNFELT * norms.max()
    _, s, Vt = np.linalg.svd(B[:, felt] / norms[felt], full_matrices=True)
    rank = int((s > np.sqrt(RESOLVED) / 10 * s[0]).sum())
    free = np.ones(len(norms))
    free[felt] = np.linalg.norm(Vt[rank:], axis=0)
    alone = felt & (free < INVOLVED)
    pairs = list(zip(names, felt, alone, strict=True))
    return Undetermined(
        tuple(name for name, here, _ in pairs if not here),
        tuple(name for name, here, lone in pairs if here and not lone),
        tuple(name for name, _, lone in pairs if lone),
    )


def related(R: np.ndarray, names: Sequence[str], some: np.ndarray) -> list[tuple[str, ...]]:
    """Those of some parameters that the columns of R leave open only together, in groups."""
    norms = np.linalg.norm(R, axis=0)
    felt = norms > UNFELT * norms.max()
    size = np.divide(1.0, norms, out=np.zeros_like(norms), where=felt)
    _, s, Vt = np.linalg.svd(R * size, full_matrices=True)
    free = Vt[int((s > np.sqrt(RESOLVED) / 10 * s[0]).sum()) :, some]
    linked = (np.abs(free.T @ free) > INVOLVED) | np.eye(free.shape[1], dtype=bool)
    for _ in range(len(linked).bit_length()):
        linked = linked @ linked  # as far as links lead
    groups = sorted({tuple(np.flatnonzero(row).tolist()) for row in linked})
    chosen = [name for name, here in zip(names, some.tolist(), strict=True) if here]
    return [tuple(chosen[k] for k in group) for group in groups]


def natural_names(moments: Moments) -> list[str]:
    """Of the ten parameters of each link, then of drives and the user's columns."""
    with importing:
        from armdyn.chain.minimal import KHALIL

    columns = moments.columns
    links = [f"{name}{i + 1}" for i in range(columns.chain.n) for name in KHALIL]
    return links + list(columns.names[len(columns.minimal) :])
