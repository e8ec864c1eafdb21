"""String tensors as a buffer holds them."""

import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from flatlite.schema.errors import ModelError
from flatlite.schema.strings import check_strings, read_strings, write_strings


@given(st.lists(st.binary(max_size=20), max_size=10))
def test_strings_survive(strings):
    content = write_strings(strings)
    check_strings(content)
    assert read_strings(np.frombuffer(content, "u1")) == strings


def test_the_layout_is_the_format_s():
    assert write_strings(["a", b"bc"]) == bytes.fromhex(
        "02000000 10000000 11000000 13000000 616263".replace(" ", "")
    )
    assert read_strings(b"") == []
    assert read_strings(b"\0\0\0\0") == []


def test_offsets_that_wrap_around():
    content = struct.pack("<5i", 3, 20, 2**31 - 1, -(2**31), 20)
    with pytest.raises(ModelError, match="must lie in order inside of it"):
        check_strings(content)


@given(st.binary(min_size=1, max_size=40))
def test_any_bytes_are_read_or_refused(content):
    try:
        strings = read_strings(content)
    except ModelError:
        with pytest.raises(ModelError):
            check_strings(content)
        return
    assert sum(map(len, strings)) <= len(content)
