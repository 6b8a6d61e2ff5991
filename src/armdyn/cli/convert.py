"""The command ``armdyn convert``."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from armdyn.chain import Chain, writers
from armdyn.chain.dh_writers import DHText
from armdyn.cli.arguments import add_robot, load, print_paths
from armdyn.errors import ModelError, cut, listed, shorten
from armdyn.output import files

HELP = "write an arm in another format: URDF, TOML, or a DH table"

Text = tuple[str, Iterable[str]]  # and what it leaves out
TABLES: dict[str, Callable[[DHText], str]] = {  # of joints alone
    ".txt": DHText.text,
    ".csv": DHText.csv,
    ".tex": DHText.latex,
}
ARMS: dict[str, Callable[[Chain], Text]] = {
    ".urdf": lambda chain: (writers.to_urdf(chain), urdf_losses(chain)),
    ".toml": lambda chain: (chain.to_toml(), ()),
}


def add_options(command: argparse.ArgumentParser) -> None:
    """The options of the command."""
    add_robot(command)
    add = command.add_argument
    add("file", metavar="FILE", help=f"what to write, by its suffix: {', '.join([*ARMS, *TABLES])}")
    add("--dh", choices=["modified", "standard"], help="which DH table (default: modified)")


def run(arguments: argparse.Namespace) -> None:
    """Write an arm to a file, and say what has no place there."""
    path, suffix = arguments.file, Path(arguments.file).suffix.lower()
    if suffix not in [*ARMS, *TABLES]:
        raise ModelError(
            f"cannot convert to {shorten(path)}; expected a name in {listed([*ARMS, *TABLES])}"
        )
    if arguments.dh and suffix not in TABLES:
        raise ModelError(f"--dh is for DH tables ({listed(TABLES)}), not {shorten(path)}")
    files.check_writable(path)
    if os.path.exists(path) and os.path.exists(arguments.robot):
        if os.path.samefile(path, arguments.robot):
            raise ModelError(f"{shorten(path)} is the arm's own file; expected another one")
    chain = load(arguments).chain
    text, left_out = written_as(chain, suffix, "dh" if arguments.dh == "standard" else "mdh")
    with files.written(path) as place:
        place.write_text(text, encoding="utf-8", newline="\n")
    print_paths([path])
    for line in left_out:
        print(f"left out: {cut(line, 300)}")


def urdf_losses(chain: Chain) -> Iterator[str]:
    """What the URDF of an arm lacks that the arm has, or that its own file may have had."""
    yield from (*writers.left_out(chain), *writers.lost_tip(chain))
    if chain.locked:
        names = listed(shorten(name) for name, _ in chain.locked)
        yield f"joints that do not move are part of the links they stand on: {names}"
    if chain.file is not None:
        yield "pictures, meshes and collision shapes of the URDF that the arm comes from"


def written_as(chain: Chain, suffix: str, convention: str) -> Text:
    """The text of a file with that suffix, and what it leaves out."""
    if suffix in ARMS:
        return ARMS[suffix](chain)
    table = DHText.of(chain, convention)
    return TABLES[suffix](table), table.left_out
