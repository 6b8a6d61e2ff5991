"""Keys of the disk cache: two lists of parts have one key only if they are the same list."""

import math
import struct
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armdyn.engine import cache

SCALARS = st.integers() | st.floats() | st.text(max_size=4) | st.binary(max_size=4)
PARTS = st.recursive(SCALARS, lambda part: st.lists(part, max_size=4).map(tuple), max_leaves=8)


def parsed(text):
    """The part of a key that a serialisation begins with, and the rest of the text."""
    kind, (length,) = text[:1], struct.unpack("<Q", text[1:9])
    content, rest = text[9 : 9 + length], text[9 + length :]
    if kind == b"t":
        parts = []
        while content:
            part, content = parsed(content)
            parts.append(part)
        return tuple(parts), rest
    read = {
        b"i": lambda: int(content, 16),
        b"f": lambda: struct.unpack("<d", content)[0],
        b"s": lambda: content.decode("utf-8", "surrogatepass"),
        b"b": lambda: content,
    }
    return read[kind](), rest


@given(PARTS)
def test_what_a_key_is_made_of_could_be_read_back(part):
    """So that no two different lists of parts can have the same serialisation."""
    back, rest = parsed(cache._serialised(part))
    assert repr(back) == repr(part)  # by representation: nan is nan, -0.0 is not 0.0, 1 not 1.0
    assert rest == b""


def test_keys_of_different_parts_differ():
    nan = struct.unpack("<d", struct.pack("<Q", 0x7FF8000000000001))[0]
    lists = [
        *[(), ("",), (b"",), ((),), ("", ""), ((), ()), (((),),), ("a", "b"), ("ab",), ("ab", "")],
        *[("a", ("b",)), (("a",), "b"), (("a", "b"),), (b"a", "b"), ("a", b"b"), ("b", "a")],
        *[(0,), (1,), (-1,), (0.0,), (-0.0,), (1.0,), ("1",), ("1.0",), (b"1",), (2**64,)],
        *[(math.nan,), (nan,), (math.inf,), (5e-324,), (1e-323,), (0.1 + 0.2,), (0.3,)],
    ]
    keys = [cache.key(*parts) for parts in lists]
    assert len(set(keys)) == len(lists)
    assert all(len(key) == len(sha256().hexdigest()) for key in keys)


def test_keys_of_equal_parts_are_equal():
    assert cache.key("a", (1.5, 2)) == cache.key("a", (np.float64(1.5), 2))


@pytest.mark.parametrize("part", [None, [1], {"a": 1}, 1j, np.float32(1), np.zeros(2)])
def test_what_has_no_serialisation_makes_no_key(part):
    with pytest.raises(TypeError, match="a key is made of"):
        cache.key("a", (part,))
