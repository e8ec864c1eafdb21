"""Functions of strings: `tf.strings`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..core.build import ops
from ..core.create import convert_to_tensor
from .arguments import one_of
from .rows import functions

if TYPE_CHECKING:
    from ..core.graph import Tensor
    from ..core.typing import DTypeLike, TensorLike

ONE_TO_ONE = """
length           StringLength      input unit='BYTE'
lower            StringLower       input encoding=''
regex_full_match RegexFullMatch    input pattern
strip            StringStrip       input
string_to_hash_bucket_strong StringToHashBucketStrong input num_buckets key
upper            StringUpper       input encoding=''
"""
globals().update(functions(ONE_TO_ONE, __name__))


def join(inputs: Sequence[TensorLike], separator: str = "", name: str | None = None) -> Tensor:
    """The strings of all inputs one after another, with `separator` in between."""
    tensors = [convert_to_tensor(item) for item in inputs]
    return ops.StringJoin(tensors, separator=separator, name=name)


def regex_replace(
    input: TensorLike,
    pattern: TensorLike,
    rewrite: TensorLike,
    replace_global: bool = True,
    name: str | None = None,
) -> Tensor:
    r"""The strings with what matches replaced; \1 in `rewrite` is the first group."""
    if isinstance(pattern, str) and isinstance(rewrite, str):
        return ops.StaticRegexReplace(
            input, pattern=pattern, rewrite=rewrite, replace_global=replace_global, name=name
        )
    return ops.RegexReplace(input, pattern, rewrite, replace_global=replace_global, name=name)


def substr(
    input: TensorLike,
    pos: TensorLike,
    len: TensorLike,
    name: str | None = None,
    unit: str = "BYTE",
) -> Tensor:
    """The part of each string from `pos` on; both numbers broadcast."""
    return ops.Substr(input, pos, len, unit=unit, name=name)


def to_number(
    string_tensor: TensorLike | None = None,
    out_type: DTypeLike = np.float32,
    name: str | None = None,
    input: TensorLike | None = None,
) -> Tensor:
    """The numbers that strings spell; InvalidArgumentError when one is none."""
    text = one_of("string_tensor", string_tensor, "input", input)
    return ops.StringToNumber(text, out_type=np.dtype(out_type), name=name)


def string_length(input: TensorLike, name: str | None = None, unit: str = "BYTE") -> Tensor:
    """The number of bytes, or of characters."""
    return ops.StringLength(input, unit=unit, name=name)
