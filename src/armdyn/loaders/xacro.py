"""Macros of xacro, expanded to a URDF by the package of that name."""

from __future__ import annotations

from pathlib import Path

from armdyn.errors import ModelError, cut


def expanded(path: Path, label: str) -> str:
    """The URDF that a file of macros, and those it includes, expand to."""
    try:
        import xacro
    except ImportError:
        raise ModelError(
            f"{label}its macros are expanded by xacro, which is not installed; try pip install "
            "'armdyn[xacro]'"
        ) from None
    try:
        return str(xacro.process_file(str(path)).toxml())
    except Exception as error:  # whatever a macro raises
        raise ModelError(
            f"{label}xacro cannot expand it: {cut(' '.join(str(error).split()))}"
        ) from None
