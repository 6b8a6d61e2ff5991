"""A KUKA KR300 and its logs: the DH table and what its maker's CAD says, with a load of 200 kg.

The tensor of link 6 with the load is not known; a guess stands for it.
"""

from pathlib import Path

import numpy as np

from armdyn import Chain, Log

FOLDER = Path(__file__).parent / "data" / "kr300"
GEARS = np.array([1798 / 7, 1872 / 7, 757 / 3, 221, 5032 / 21, 206793 / 1340])


def tensor(xx, yy, zz, xy, yz, xz):
    return [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]


def chain():
    return Chain.from_dh(
        name="KR300",
        degrees=True,
        a=[0.35, 1.15, 0.041, 0, 0, 0],
        alpha=[90, 0, -90, 90, -90, 180],
        d=[-0.675, -0.189, 0.189, -1, 0, -0.24],
        theta=[0, 0, 90, 0, 0, 0],
        base=np.diag([1.0, -1, -1, 1]),
        mass=[395.4, 339.12, 105.21, 35.8, 31.46, 217.78],
        com=[
            (-0.353, 0.174, -0.004),
            (-0.709, -0.001, 0.023),
            (-0.018, -0.018, -0.076),
            (0, 0.236, 0.001),
            (0, -0.08, -0.009),
            (0, 0, 0.0878),
        ],
        inertia=[
            tensor(16.73, 29.80, 32.81, -1.70, 0.129, 4.40),
            tensor(7.51, 88.89, 88.67, 0.430, 0.173, -4.40),
            tensor(10.78, 10.19, 1.943, 0.118, -0.606, -0.102),
            tensor(0.425, 0.218, 0.428, 0, -0.0114, 0),
            tensor(0.284, 0.230, 0.258, 0, -0.0195, 0),
            tensor(8.0, 8.0, 8.0, 0, 0, 0),
        ],
    )


def log(name):
    """Motion A, B or C."""
    return Log.read(FOLDER / f"{name}.npz")
