"""A Staubli TX40, its log, and the 60 base parameters that were published of it."""

import csv
import re
from pathlib import Path

import numpy as np

import armdyn
from armdyn import Log
from armdyn.chain.inertia import NAMES
from armdyn.chain.minimal import seen_from_matrix

FOLDER = Path(__file__).parent / "data" / "tx40"
REST = (0.0501, 0.0501, 0.0750, 0.0716, 0.0559, 0.122)  # rad/s, as the publishers say
DRIVES = {"Ia": "rotor", "fv": "viscous", "fs": "coulomb", "off": "offset"}
TEN = dict(zip(NAMES["pinocchio"], range(10), strict=True)) | {"mx": 1, "my": 2, "mz": 3}


def robot():
    """Joint 6 of the file moves nothing that has inertia: a warning."""
    return armdyn.load(FOLDER / "tx40_mdh_modified.urdf", check="warn")


def log():
    """Joints 5 and 6 are coupled: motor 6 turns with joint 5."""
    gears = np.diag([32.0, 32, 45, -48, 45, 32])
    gears[5, 4] = 32
    with np.load(FOLDER / "tx40.npz") as file:
        q = file["q_motor"].astype(float) @ np.linalg.inv(gears).T
        tau = file["tau_motor"].astype(float) @ gears
        t = np.arange(len(q)) * float(file["dt"])
    return Log(t, q + np.array([0, -np.pi / 2, np.pi / 2, 0, 0, 0]), tau, name="tx40")


def wrist(of_5, of_6):
    """A column of the coupled motor: torque on joints 5 and 6."""

    def column(q, qd, qdd):
        found = np.zeros(np.shape(q))
        found[..., 4], found[..., 5] = of_5(qd, qdd), of_6(qd, qdd)
        return found

    return column


def sliding(qd, qdd):
    return np.sign(qd[..., 4] + qd[..., 5])


COLUMNS = {
    "Iam6": wrist(lambda qd, qdd: qdd[..., 5], lambda qd, qdd: qdd[..., 4]),
    "fvm6": wrist(lambda qd, qdd: qd[..., 5], lambda qd, qdd: qd[..., 4]),
    "fsm6": wrist(sliding, sliding),
}


def published():
    """(expression, value, standard deviation) of each parameter, by weighted least squares."""
    with open(FOLDER / "TX40_bp_5.csv", newline="") as file:
        rows = [(row[0], float(row[3]), float(row[4])) for row in csv.reader(file)]
    return [(name, value, abs(value) * percent / 100) for name, value, percent in rows]


def as_published(columns):
    """The matrix that makes the published parameters of theta, (60, count).

    They are written in the URDF's frames and group rotors and links in their own way.
    """
    n, p = columns.chain.n, len(columns.minimal)
    natural = columns.natural.copy()
    for i, link in enumerate(columns.chain.links):
        ten = slice(10 * i, 10 * i + 10)
        natural[:, ten] = natural[:, ten] @ seen_from_matrix(columns.chain.find_frame(link.name)[1])
    wanted = np.zeros((60, natural.shape[1]))
    for row, (expression, _, _) in zip(wanted, published(), strict=True):
        for sign, factor, name in re.findall(r"([+-]?) ?(?:([\d.]+)\*)?([A-Za-z]+\d)", expression):
            kind, i = name[:-1], int(name[-1]) - 1
            if kind in TEN:
                k = 10 * i + TEN[kind]
            elif name in columns.user:
                k = 10 * n + columns.names.index(name) - p
            else:
                k = 10 * n + columns.place(DRIVES[kind]).start + i - p
            row[k] += (-1 if sign == "-" else 1) * float(factor or 1)
    found = wanted @ np.linalg.pinv(natural)
    np.testing.assert_allclose(found @ natural, wanted, atol=1e-12)  # theta tells all of them
    return found
