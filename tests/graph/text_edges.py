"""Calls of string functions, which TensorFlow and flatlite make alike."""

import re

import numpy as np


def _placeholder(tf, value):
    return tf.placeholder_with_default(value, None)


def _transcode(text, before="UTF-8", after="UTF-8", **kwargs):
    return lambda tf: tf.strings.unicode_transcode(text, before, after, **kwargs)


_EMPTY = np.zeros((0, 3), object)
CASES = {
    **{
        f"transcode/{encoding}/{text.hex()}": _transcode(text, encoding)
        for encoding, text in (
            ("UTF-16", b"\xfe\xff\x00a\x00b"), ("UTF-16", b"\xff\xfea\x00b\x00"),
            ("UTF-16", b"\x0f\x01a~"), ("UTF-16", b"\x00a\x00"), ("UTF-16-LE", b"\xff\xfea\x00"),
            ("UTF-32", b"\x00\x00\x00a\x00\x00"), ("UTF-32LE", b"a\x00\x00\x00"),
            ("US-ASCII", b"a\xe9"), ("ISO-8859-1", b"a\xe9\x83"), ("cp1252", b"\x83\x8d"),
            ("shift_jis", b"\x83n\x83\x8d\x81["), ("gb2312", b"\xc4\xe3\x83"), ("big5", b"\xa7A"),
            ("euc-kr", b"\xb0\xa1"), ("KS_C_5601-1987", b"\x83n"), ("koi8-r", b"\xe9\xc3"),
            ("macroman", b"\xe9"), ("ibm437", b"\xe9"), ("utf8", b"\xef\xbb\xbfab"),
            ("no_encoding", b"a"),
        )
    },
    **{
        f"errors/{errors}/{text.hex()}/{controls}": _transcode(
            text, after="UTF-16-BE", errors=errors, replacement_char=0x3F,
            replace_control_characters=controls,
        )
        for errors in ("strict", "replace", "ignore")
        for text in (b"a\xff\xc3(", b"\x00 ", b"a\xed\xa0\x80b", b"\xf0\x9f", "\ufffd".encode())
        for controls in (False, True)
    },
    "replacement": lambda tf: tf.strings.unicode_split(["a"], "UTF-8", replacement_char=0x11FFFF),
    "encode/matrix": lambda tf: tf.strings.unicode_encode(
        tf.ragged.constant([[[72, 73], [74, 75]], [[76, 77]]], ragged_rank=1), "UTF-8"
    ),
    "decode/rank": lambda tf: tf.strings.unicode_decode(_placeholder(tf, ["a"]), "UTF-8"),
    "join/empty": lambda tf: tf.strings.reduce_join(_EMPTY, 1),
    "join/scalar": lambda tf: tf.strings.reduce_join("a", 0),
    "join/axis": lambda tf: tf.strings.reduce_join(["a"], -2),
    "join/late": lambda tf: tf.strings.reduce_join(_placeholder(tf, ["a"]), -2),
    "join/twice": lambda tf: tf.strings.reduce_join(["a", "b"], [0, 0]),
    "segments/negative": lambda tf: tf.strings.unsorted_segment_join(["a", "b"], [-1, 0], 2),
    "segments/beyond": lambda tf: tf.strings.unsorted_segment_join(["a", "b"], [5, 0], 2),
    "segments/count": lambda tf: tf.strings.unsorted_segment_join(["a"], [0], -2),
    "segments/empty": lambda tf: tf.strings.unsorted_segment_join(
        _EMPTY[:, 0], np.zeros(0, int), 2
    ),
    "segments/rows": lambda tf: tf.strings.unsorted_segment_join(
        _placeholder(tf, [["a", "b"]] * 3), _placeholder(tf, [0, 0, 0, 1]), 2
    ),
    "base64": lambda tf: tf.io.decode_base64("abcde"),
    "format": lambda tf: tf.strings.format("{} {}", [1]),
    "length": lambda tf: tf.strings.length(["abc"], "name_of_the_operation"),
    "substr/rank3": lambda tf: tf.strings.substr([[["abc"]]], [0], [1]),
    "ngrams/pad": lambda tf: tf.strings.ngrams([["a", "b"]], 2, pad_values=5),
    "ngrams/word": lambda tf: tf.strings.ngrams([["a", "b"]], 2, pad_values="LONG"),
    "ngrams/width": lambda tf: tf.strings.ngrams([["a", "b"]], 2, pad_values="", padding_width=0),
    "ngrams/alone": lambda tf: tf.strings.ngrams([["a", "b"]], 2, padding_width=1),
    "ngrams/widths": lambda tf: tf.strings.ngrams([["a", "b"]], [1, -1]),
    "ngrams/rank": lambda tf: tf.strings.ngrams("x", 1),
}  # fmt: skip


def _plain(value):
    if hasattr(value, "to_list"):
        return _plain(value.to_list())
    if isinstance(value, (list, tuple)):
        return [_plain(x) for x in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    return value.hex() if isinstance(value, bytes) else value


def outcome(tf, case):
    """What a call gives, or the type and the first words of its error."""
    try:
        with tf.Graph().as_default(), tf.Session() as session:
            return _plain(session.run(case(tf)))
    except (tf.errors.OpError, TypeError, ValueError) as error:
        message = getattr(error, "message", None) or str(error)
        lines = [
            x for x in message.split("\n") if re.match(r"(?!Graph exec|Detected|  |Node:)\w", x)
        ]
        return f"{type(error).__name__}: {lines[0].split(' for ')[0].split(' while ')[0][:76]}"


def outcomes(tf):
    """What each case gives."""
    return {name: outcome(tf, case) for name, case in CASES.items()}
