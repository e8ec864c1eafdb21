"""SKIP_GRAM: groups of words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...schema.dtypes import tf_name
from ..checks import required
from ..registry import op

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..plan.node import DynamicResult, Node

_SPACES = b" \t\n\v\f\r"


@op("SKIP_GRAM")
def skip_gram(node: Node) -> DynamicResult:
    """All groups of `ngram_size` words of a text, between which up to `max_skip_size` are left out.

    With `include_all_ngrams` those of fewer words, too. A text of fewer words than `ngram_size` has
    none.
    """
    (text,) = required(node, 1)
    node.require(text.dtype.hasobject, f"input must be a string, got {tf_name(text.dtype)}")
    node.require(text.size >= 1, "input must have a string")
    size, skip = int(node.options.ngram_size), int(node.options.max_skip_size)
    node.require(size >= 1, f"ngram_size must be at least 1, got {size}")

    def run(text: np.ndarray) -> list[np.ndarray]:
        words = split(text.ravel()[0])
        groups = list(_groups(len(words), size, skip)) if len(words) >= size else []
        if not node.options.include_all_ngrams:
            groups = [group for group in groups if len(group) == size]
        grams = np.empty(len(groups), object)
        grams[:] = [b" ".join(words[i] for i in group) for group in groups]
        return [grams]

    return node.dynamic_result(run, [(None,)])


def split(text: bytes) -> list[bytes]:
    """The words of a text as TFLite's kernel parts them.

    A space at the very beginning hides the word after it, and at the very end one more is part of
    the last word's rest: whatever comes after the last space that was seen is a word.

    >>> split(b"a bc  d")
    [b'a', b'bc', b'd']
    """
    words: list[bytes] = []
    start = 0
    for i in range(1, len(text)):
        if text[i] in _SPACES:
            if i > start and text[start] not in _SPACES:
                words.append(text[start:i])
            start = i + 1
    return words + [text[start:]] if len(text) > start else words


def _groups(n_words: int, size: int, skip: int) -> Iterator[tuple[int, ...]]:
    """Rising positions of up to `size` words, longer groups before those they begin with."""

    def longer(group: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(group) < size:
            for word in range(group[-1] + 1, min(group[-1] + skip + 2, n_words)):
                yield from longer((*group, word))
        yield group

    for first in range(n_words):
        yield from longer((first,))
