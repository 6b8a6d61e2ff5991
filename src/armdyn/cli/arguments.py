"""What commands have in common: the arm that they are given, lists separated by commas."""

from __future__ import annotations

import argparse

import armdyn
from armdyn.errors import ModelError


def add_robot(command: argparse.ArgumentParser) -> None:
    """The arguments by which a command is given its arm."""
    command.add_argument("robot", metavar="ROBOT", help="a shipped arm's name, or a .urdf or .toml")
    command.add_argument("--base", metavar="LINK", help="the link of a URDF to stand on")
    command.add_argument("--tip", metavar="LINK", help="the link of a URDF where the chain ends")
    command.add_argument(
        "--lock",
        metavar="JOINT=POSITION",
        action="append",
        default=[],
        help="lock a joint of a URDF",
    )
    command.add_argument(
        "--snap",
        type=float,
        help="snap angles to quarter turns [rad] (default: what a .toml file says, else 1e-9)",
    )


def load(arguments: argparse.Namespace, check: str = "error") -> armdyn.Robot:
    """The arm that a command was given."""
    return armdyn.load(
        arguments.robot,
        base=arguments.base,
        tip=arguments.tip,
        lock=dict(map(locked, arguments.lock)),
        snap=arguments.snap,
        check=check,  # type: ignore[arg-type]
    )


def locked(text: str) -> tuple[str, float]:
    """JOINT=POSITION as a pair."""
    joint, _, position = text.rpartition("=")
    try:
        return joint, float(position)
    except ValueError:
        raise ModelError(f"--lock takes JOINT=POSITION with a number, not {text!r}") from None


def listed(text: str) -> list[str]:
    """The items of a list separated by commas."""
    return [item.strip() for item in text.split(",") if item.strip()]
