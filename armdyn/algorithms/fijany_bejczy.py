"""Fijany and Bejczy: Renaud's composite bodies, then all forces carried inward in one frame, E_n.

[lin1991], Appendix, (A10) to (A15), after [fijany1990]. Joints count from 0. The axes x_j, y_j,
z_j of every frame are expressed in E_n, so that a force is carried from joint to joint without
rotating it. The paper prints no break-down of its count; ours, all revolute, is 4.5n^2+92.5n-175 M,
4n^2+62n-123 A, 3n-6 D.

The terms of prismatic joints in (A10), (A11), missing in the original, are included, as the paper
asks; in (A14) t_jj^<k> is -R t_Ej^<j>, rotated as f is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from armdyn.algorithms import renaud
from armdyn.algorithms.lin1991 import Row, across, composite_masses
from armdyn.algorithms.stages import stage
from armdyn.arm import Arm
from armdyn.spatial import Z_AXIS, Rotation, Scalar, Symmetric, Vector
