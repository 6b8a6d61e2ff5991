"""Whatever is given to a reader, it ends in an arm or in an error of armdyn's own.

``python -m tests.fuzz`` tries more texts than these.
"""

import copy
import math
from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from armdyn import ArmdynError, Chain
from armdyn.algorithms import newton_euler
from armdyn.loaders import urdf
from tests import fuzz

SEEDS = fuzz.SEEDS["urdf"]
TAGS = [
    "link",
    "joint",
    "inertial",
    "origin",
    "axis",
    "limit",
    "dynamics",
    "mimic",
    "mass",
    "robot",
]
TYPES = ["revolute", "continuous", "prismatic", "fixed", "floating", "planar", "screw"]
NAMES = ["base", "lower", "upper", "tool", "side", "finger", "tip", "mount", "link1", "link2"]
JOINTS = ["shoulder", "elbow", "flange", "to_side", "to_finger", "joint1", "joint2", "weld0"]

NUMERIC = {"xyz", "rpy", "value", "ixx", "ixy", "izz", "lower", "damping", "offset"}

finite = st.one_of(
    st.sampled_from(["0", "1e-8", "1e-12", "1.5707963", "3.141592653589793", "1e9", "1e-320"]),
    st.floats(-1, 1).map(repr),
    st.floats(-1e-6, 1e-6).map(repr),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
)
numbers = st.one_of(
    finite, st.floats().map(repr), st.integers().map(str), st.sampled_from(["nan", "+1.", "-"])
)
values = st.one_of(
    numbers,
    st.lists(numbers, min_size=3, max_size=3).map(" ".join),
    st.sampled_from(TYPES + NAMES + JOINTS),
    st.text(max_size=20),
)
choices = st.fixed_dictionaries(
    {},
    optional={
        "base": st.sampled_from(NAMES),
        "tip": st.sampled_from(NAMES),
        "lock": st.dictionaries(st.sampled_from(JOINTS), st.floats() | st.integers(), max_size=2),
        "gravity": st.lists(st.floats(), max_size=4),
        "snap": st.sampled_from([0, 1e-9, 1e-6, 1e-3, 0.5]),
        "check": st.sampled_from(["error", "warn"]),
    },
)


@st.composite
def mutants(draw):
    """A good URDF with a few of its numbers and elements changed, lost, copied or moved."""
    root = ElementTree.fromstring(draw(st.sampled_from(SEEDS)))
    for _ in range(draw(st.integers(1, 6))):
        parents = [element for element in root.iter() if len(element)]
        if not parents:
            break
        parent = draw(st.sampled_from(parents))
        child = draw(st.sampled_from(list(parent)))
        match draw(st.sampled_from(["number"] * 6 + ["value", "lose", "copy", "move", "tag"])):
            case "number":
                written = [e for e in root.iter() if NUMERIC & {*e.attrib}]
                element = draw(st.sampled_from(written or [ElementTree.Element("a", xyz="0")]))
                key = draw(st.sampled_from(sorted(NUMERIC & {*element.attrib})))
                words = element.get(key).split()
                if words:
                    words[draw(st.integers(0, len(words) - 1))] = draw(finite)
                element.set(key, " ".join(words))
            case "value":
                keys = [*child.attrib, "xyz", "rpy", "name"]
                child.set(draw(st.sampled_from(keys)), draw(values))
            case "lose":
                parent.remove(child)
            case "copy":
                draw(st.sampled_from([root, *parents])).append(copy.deepcopy(child))
            case "move":
                parent.remove(child)
                root.append(child)
            case "tag":
                child.tag = draw(st.sampled_from(TAGS))
    return ElementTree.tostring(root, encoding="unicode")


@st.composite
def scrambled(draw):
    """A good URDF as bytes, some of them overwritten, and perhaps cut short."""
    text = bytearray(draw(st.sampled_from(SEEDS)).encode())
    for _ in range(draw(st.integers(0, 8))):
        start = draw(st.integers(0, len(text) - 1))
        text[start : start + draw(st.integers(0, 9))] = draw(st.binary(max_size=9))
    cut = draw(st.just(len(text)) | st.integers(0, len(text)))
    return bytes(text[:cut])


def ends_well(text, **keywords):
    """A chain that answers with finite numbers, or an armdyn error with something to say."""
    try:
        chain = urdf.load(text, **keywords)
    except ArmdynError as error:
        assert len(str(error)) > 20
        return
    assert isinstance(chain, Chain)
    M = newton_euler.mass_matrix(chain.on(float), [0.5] * chain.n)
    assert np.isfinite(M).all() and all(math.isfinite(x) for _, x in chain.locked)


@settings(max_examples=250, deadline=None)
@given(mutants(), choices)
def test_changed_elements(text, keywords):
    ends_well(text, **keywords)


@settings(max_examples=100, deadline=None)
@given(scrambled())
def test_scrambled_bytes(text):
    ends_well(text)


@settings(max_examples=100, deadline=None)
@given(st.one_of(st.binary(), st.text(), st.text("<>/=\"' &;!?[]robtlinkj\n")))
def test_anything(text):
    ends_well(text)


@pytest.mark.parametrize("kind", fuzz.SEEDS)
def test_changed_texts(kind, tmp_path):
    if kind == "mjcf":
        pytest.importorskip("mujoco")
    for number in range(100):
        fuzz.ends_well(kind, number, tmp_path)
