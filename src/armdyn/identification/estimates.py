"""The parameters that suit some moments: of an arm, or of a payload."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from armdyn.chain import Chain
from armdyn.chain.inertia import NAMES, Inertia
from armdyn.chain.parts import Link
from armdyn.errors import IdentificationError, listed, shorten, unknown, warn
from armdyn.identification import choices, priors
from armdyn.identification.blas import one_thread
from armdyn.identification.columns import DRIVES, Columns
from armdyn.identification.consistent import ROUGHLY, Bodies, Problem, Solution, triangle
from armdyn.identification.fit import (
    METHODS,
    UNFELT,
    LeastSquares,
    at_rest,
    condition,
    deviations,
    equations,
    least_squares,
    related,
    sandwich,
    told_by,
    undetermined,
)
from armdyn.identification.moments import Moments
from armdyn.identification.results import UNIDENTIFIED, Identification, Parameter
from armdyn.robot import Robot

STEEP = 1e-6  # of the objective: it is no minimum where a step promises more
NEGLIGIBLE = 1e-6  # of a joint's torque: an offset that is not worth a word,
SIGNIFICANT = 3.0  # nor one of fewer standard deviations
ONLY_TOGETHER = (
    "the torque depends only on a combination of them, as it does on link and rotor inertia about "
    "one axis"
)
NO_EFFECT = "no effect on the torque"
TEN_UNITS = ("kg", *["kg m"] * 3, *["kg m^2"] * 6)


@one_thread()
def fit(
    moments: Moments,
    *,
    method: str = "wls",
    prior: Any = "robot",
    weight: Any = "auto",
    payload: bool = False,
    tell: choices.Tell = choices.silent,
) -> Identification:
    """The parameters that suit the moments.

    Args:
        moments: of one log or more.
        method: how the joints' errors count: "ols": alike; "wls": by their variances after "ols";
            "irls": by their own variances.
        prior: what the parameters stay near to, and within what bodies can have: "robot", the arm
            of the moments; another Robot or Chain; None: least squares alone.
        weight: of the prior, for each row; "auto": by cross-validation.
        payload: whether a body at the tip is all that is sought, and all else is held.
        tell: called with the current step in words, the steps done, and all steps.
    """
    given = _checked(method, weight)
    chain = priors.prior_of(moments, prior)
    if payload:
        return _fit_payload(moments, method, chain is not None, given, tell)
    before = _given(moments.columns, chain)
    whole, moments = moments, moments.without(at_rest(moments))
    plain = least_squares(moments, before, method)
    bodies, notes = priors.links(moments, chain or moments.columns.chain)
    if chain is None:
        z = bodies.start
        z = z + np.linalg.pinv(bodies.matrix) @ (plain.theta - bodies.theta(z))
        free = plain.theta, plain.covariance, bodies.ten(z)
        return _result(whole, plain, before, *free, 0.0, ())
    weights = plain.equations.weights if method != "ols" else _alike(plain)
    solved = equations(moments, weights)
    chosen = given or choices.choose_weight(moments, weights, bodies, tell)
    problem = Problem(solved.R, solved.rho, moments.origin, bodies)
    found = _minimum(problem, chosen, moments)
    theta = _kept(found.theta, before, solved.R)
    covariance = sandwich(solved, theta, _half(bodies, found))
    return _result(
        whole, plain, before, theta, covariance, bodies.ten(found.z), chosen, tuple(notes)
    )


def quick_fit(moments: Moments, method: str, prior: Any, weight: Any) -> np.ndarray:
    """Theta of a fit with a weight that suits most records, if none is given; nothing else."""
    given = _checked(method, weight)
    chain = priors.prior_of(moments, prior)
    before = _given(moments.columns, chain)
    moments = moments.without(at_rest(moments))
    plain = least_squares(moments, before, method)
    if chain is None:
        return plain.theta
    bodies, _ = priors.links(moments, chain)
    solved = plain.equations
    problem = Problem(solved.R, solved.rho, moments.origin, bodies, ROUGHLY)
    return _minimum(problem, given or choices.UNTRIED, moments).theta


def _given(columns: Columns, prior: Chain | None) -> np.ndarray:
    """Theta of a prior, or of the columns' own arm; zero for the user's columns."""
    known = Columns(prior or columns.chain, columns.drives).given
    return np.concatenate([known, np.zeros(len(columns.user))])


def _alike(plain: LeastSquares) -> np.ndarray:
    """Weights of joints that count alike, in units of the noise."""
    return np.full(len(plain.sigma), 1 / np.mean(plain.sigma**2))


def _checked(method: Any, weight: Any) -> float | None:
    """The weight of a prior, None if none is given; refuses an unknown method, too."""
    if not isinstance(method, str) or method not in METHODS:
        raise IdentificationError(unknown("method", method, METHODS))
    if isinstance(weight, str) and weight == "auto":
        return None
    try:
        if not isinstance(weight, bool) and 0 < float(weight) < np.inf:
            return float(weight)
    except (TypeError, ValueError, OverflowError):
        pass
    raise IdentificationError(
        f"weight is {shorten(weight)}; expected a number above 0, or 'auto' (prior=None: no prior)"
    )


def _minimum(problem: Problem, weight: float, moments: Moments) -> Solution:
    """The minimum of a weight, by way of heavier ones: cold, a light one would not converge."""
    rows = choices.rows_of(moments)
    heavier = choices.WEIGHTS[choices.WEIGHTS > weight]
    found = problem.path(rows * np.append(heavier, weight))[-1]
    if found.slope > STEEP:
        warn("the consistent fit has not converged: a heavier weight than %g would", weight)
    return found


def _kept(theta: np.ndarray, before: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Theta, and the prior's value of what the data do not feel at all."""
    return np.where(np.linalg.norm(R, axis=0) > 0, theta, before)


def _half(bodies: Bodies, found: Solution) -> np.ndarray:
    """What with its transpose is the inverse of the whole objective's Hessian, in theta."""
    return np.linalg.solve(triangle(found.root).T, bodies.matrix.T).T


def _result(
    moments: Moments,
    plain: LeastSquares,
    before: np.ndarray,
    theta: np.ndarray,
    covariance: np.ndarray,
    ten: np.ndarray,
    weight: float,
    notes: tuple[str, ...],
) -> Identification:
    columns = moments.columns
    sd = np.sqrt(covariance.diagonal())
    robot, said = _robot(moments, theta, ten, sd)
    rows = zip(columns.names, theta.tolist(), sd.tolist(), columns.units, strict=True)
    told = undetermined(plain.equations)
    said += _unidentified(related(plain.equations.R, columns.names, np.isinf(sd)), told.zero)
    return Identification(
        tuple(Parameter(*row) for row in rows),
        covariance,
        robot,
        moments.rms(theta),
        plain.condition,
        told,
        (*moments.notes, *notes, *said),
        weight,
        theta,
        moments,
        np.where(np.arange(columns.count) < columns.count - len(columns.user), before, np.nan),
    )


def _unidentified(groups: list[tuple[str, ...]], zero: tuple[str, ...] = ()) -> list[str]:
    """Why some standard deviations are infinite, and which parameters of links have no effect."""
    alone = listed(group[0] for group in groups if len(group) == 1)
    together = listed(" with ".join(group) for group in groups if len(group) > 1)
    reasons = (together, ONLY_TOGETHER), (alone, NO_EFFECT)
    why = [f"{names} ({reason})" for names, reason in reasons if names]
    found = [f"{UNIDENTIFIED} (+- inf): {'; '.join(why)}"] if why else []
    drives = [name for name in zero if name.partition("_")[0] in DRIVES]
    links = [name for name in zero if name not in drives]
    for names, value in ((links, "held by the prior alone"), (drives, "prior values kept")):
        if names:
            found.append(f"{UNIDENTIFIED}: {', '.join(names)} ({NO_EFFECT}); {value}")
    return found


def _robot(
    moments: Moments, theta: np.ndarray, ten: np.ndarray, sd: np.ndarray
) -> tuple[Robot, list[str]]:
    """The arm of these parameters, and what it could not take up, in words."""
    columns, chain, notes = moments.columns, moments.columns.chain, []
    size = moments.rms(np.zeros_like(theta))
    given = {name: theta[columns.place(name)] for name in columns.drives}
    for name in given.keys() & {*priors.POSITIVE}:
        below = np.flatnonzero(given[name] < 0) + 1
        if below.size:
            notes.append(
                f"{name} of joints {shorten(below.tolist())} below zero: none in the robot"
            )
            given[name] = np.maximum(given[name], 0.0)
    joints = []
    for i, joint in enumerate(chain.joints):
        new: dict[str, Any] = {}
        if "rotor" in given:
            new["rotor_inertia"] = float(given["rotor"][i])
        if "viscous" in given:
            new["viscous"] = float(given["viscous"][i])
            c = float(given["coulomb"][i])
            offset, noise = 0.0, 0.0
            if "offset" in given:
                offset, noise = float(given["offset"][i]), float(sd[columns.place("offset")][i])
            if abs(offset) > max(c, NEGLIGIBLE * size[i], SIGNIFICANT * noise):
                unit = "N m" if joint.kind == "R" else "N"
                notes.append(
                    f"joint {shorten(joint.name)}: offset {offset:.3g} {unit} exceeds Coulomb "
                    f"friction ({c:.3g} {unit}): treated as sensor bias, not stored in the robot"
                )
            offset = offset if abs(offset) <= c else 0.0
            new["coulomb"] = (offset - c, offset + c)
        joints.append(dataclasses.replace(joint, **new))
    bodies = [Inertia.from_parameters(row) for row in ten]
    links = [Link(link.name, body) for link, body in zip(chain.links, bodies, strict=True)]
    impossible = [link.name for link in links if link.inertia.findings()]
    if impossible:
        notes.append(f"no body has the inertia found for {', '.join(impossible)}: give a prior")
    changed: Chain = dataclasses.replace(
        chain, joints=tuple(joints), links=tuple(links), check="warn"
    )
    return Robot(changed), notes


# A payload ----------------------------------------------------------------------------------------


def _fit_payload(
    moments: Moments, method: str, possible: bool, weight: float | None, tell: choices.Tell
) -> Identification:
    """A body at the tip; the arm, its friction and its rotors are the robot's."""
    columns, chain = moments.columns, moments.columns.chain
    B = priors.load_columns(columns)
    weights, before = (moments.rows.sum(axis=0) > 0).astype(float), columns.given
    for _ in range({"ols": 1, "wls": 2, "irls": 20}[method]):
        solved = equations(moments, weights)
        target = solved.rho - solved.R @ (before - moments.origin)
        RB = solved.R @ B
        norms = np.linalg.norm(RB, axis=0)
        felt = norms > UNFELT * norms.max()
        size = np.divide(1.0, norms, out=np.zeros_like(norms), where=felt)
        ten = size * np.linalg.lstsq(RB * size, target, rcond=1e-7)[0]
        sigma = deviations(moments, before + B @ ten)
        weights = np.where(weights > 0, 1 / sigma**2, 0.0)
    bodies, chosen = priors.load(columns, float(ten[0])), 0.0
    bread = size[:, None] * np.linalg.pinv(RB * size, rcond=1e-7)
    bread = bread @ bread.T
    if possible:
        solved = equations(moments, weights)
        chosen = weight or choices.choose_weight(moments, weights, bodies, tell)
        problem = Problem(solved.R, solved.rho, moments.origin, bodies)
        found = _minimum(problem, chosen, moments)
        ten = bodies.ten(found.z)[0]
        half = np.linalg.solve(triangle(found.root).T, bodies.to_ten[0].T)
        bread = half.T @ half
    theta = before + B @ ten
    parts = solved.scores(theta) @ B @ bread
    covariance = moments.groups / max(moments.groups - 1, 1) * parts.T @ parts
    names = [f"payload {name}" for name in NAMES["pinocchio"]]
    told = told_by(RB, names)
    sure = np.array([name in told.determined for name in names])
    groups = related(RB, names, ~sure)
    covariance[~sure] = covariance[:, ~sure] = 0.0
    covariance[~sure, ~sure] = np.inf
    last = chain.links[-1]
    body = last.inertia + Inertia.from_parameters(ten).seen_from(chain.tip)
    loaded: Chain = dataclasses.replace(
        chain, links=(*chain.links[:-1], Link(last.name, body)), check="warn"
    )
    sd = np.sqrt(covariance.diagonal())
    rows = zip(names, ten.tolist(), sd.tolist(), TEN_UNITS, strict=True)
    return Identification(
        tuple(Parameter(*row) for row in rows),
        covariance,
        Robot(loaded),
        moments.rms(theta),
        condition(RB),
        told,
        (*moments.notes, *_unidentified(groups)),
        chosen,
        theta,
        moments,
        np.full(len(names), np.nan),
    )
