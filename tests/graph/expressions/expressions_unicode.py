"""Expressions of characters, n-grams and joined segments of `tf.strings`."""

WORDS = "tf.constant([['a', 'b', 'c'], ['d', 'e', 'f']])"
ROWS = "tf.ragged.constant([['a', 'b', 'c'], ['d'], []])"
TEXTS = (
    "tf.constant([b'a\\xc3\\xa9\\xf0\\x9f\\x98\\x80', b'b\\xe2\\x28c\\xf0\\x9f\\x98', b'\\x01\\n'])"
)


def parts(ragged: str) -> str:
    """Splits and values of a ragged tensor."""
    return f"(lambda r: [*r.nested_row_splits, r.flat_values])({ragged})"


EXPRESSIONS = [
    "tf.strings.unicode_decode(b'a\\xc3\\xa9\\x01', 'UTF-8')",
    parts(f"tf.strings.unicode_decode({TEXTS}, 'UTF-8')"),
    parts(f"tf.strings.unicode_decode({TEXTS}, 'UTF-8', 'ignore')"),
    parts(f"tf.strings.unicode_decode({TEXTS}, 'UTF-8', 'replace', 63, True)"),
    parts(f"tf.strings.unicode_decode({TEXTS}[:, tf.newaxis], 'UTF-8')"),
    parts("tf.strings.unicode_decode([b'\\x00a\\x01\\x00'], 'UTF-16-BE')"),
    parts(f"tf.strings.unicode_split({TEXTS}, 'UTF-8')"),
    parts(f"tf.strings.unicode_split_with_offsets({TEXTS}, 'UTF-8')[1]"),
    parts(f"tf.strings.unicode_decode_with_offsets({TEXTS}, 'UTF-8')[0]"),
    "tf.strings.unicode_decode_with_offsets('xyz', 'UTF-8')",
    "tf.strings.unicode_encode([[97, 233], [0x1F600, 0x110000]], 'UTF-8')",
    "tf.strings.unicode_encode([[97, 233], [0x1F600, 0x110000]], 'UTF-8', 'ignore')",
    "tf.strings.unicode_encode([97, 233], 'UTF-16-BE')",
    "tf.strings.unicode_encode([[[97], [233]]], 'UTF-32-BE')",
    "tf.strings.unicode_encode(tf.ragged.constant([[97, 233], [], [98]]), 'UTF-8')",
    f"tf.strings.ngrams({WORDS}, 2)",
    f"tf.strings.ngrams({WORDS}, [3, 1], '-', 'PAD')",
    f"tf.strings.ngrams({WORDS}, 4)",
    f"tf.strings.ngrams({WORDS}[0], [1, 2], pad_values='PAD', padding_width=1)",
    parts(f"tf.strings.ngrams({ROWS}, 3, pad_values=('<', '>'), preserve_short_sequences=True)"),
    parts(f"tf.strings.ngrams({ROWS}, [3, 2], preserve_short_sequences=True)"),
    parts(f"tf.strings.ngrams({ROWS}, 2, preserve_short_sequences=False)"),
    f"tf.strings.unsorted_segment_join({WORDS}, [1, 1], 2, '-')",
    f"tf.strings.unsorted_segment_join({WORDS}, [[0, 1, 0], [1, 1, 0]], 3, ':')",
    "tf.strings.unicode_script([0x41, 0x416, 0x4e2d, 0x20, 0x10ffff, -1, 0x110000, 0x1f600])",
    "tf.strings.unicode_script(tf.reshape(tf.range(0, 0x3100, 7), [-1, 7]))",
    "tf.strings.unicode_script(tf.ragged.constant([[0x3b1], [], [0x915, 0xe01]])).values",
    "tf.fingerprint(['abc', '', 'a longer string'])",
    "tf.fingerprint(a)",
    "tf.fingerprint([['a', 'b'], ['c', 'd']])",
]
GRADIENTS = []
