"""The vectors kernels are written for, by the features of a processor."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

UNSIGNED, SIGNED = "unsigned", "signed"


class Simd(NamedTuple):
    """The vectors of a processor.

    Attributes:
        width: float32 in one.
        registers: how many there are.
        fused: whether it multiplies and adds in one instruction.
        dots: which bytes it sums products of, four at a time: UNSIGNED ones with signed ones,
            SIGNED ones only, or "".
        amx: whether it multiplies tiles of bytes (AMX).
        permutes: whether it looks bytes up in a table of 128.
    """

    width: int
    registers: int
    fused: bool
    dots: str = ""
    amx: bool = False
    permutes: bool = False


def widest_simd(features: Iterable[str]) -> Simd:
    """The widest vectors that code for features may use, which are called as LLVM or Linux does."""
    features = {re.sub("[-_]", "", name) for name in features}
    if "avx512f" in features:
        dots, bytewise = "avx512vnni" in features, "avx512bw" in features
        matrices = dots and bytewise and "amxint8" in features
        permutes = bytewise and "avx512vbmi" in features
        return Simd(16, 32, True, UNSIGNED if dots else "", matrices, permutes)
    if {"avx2", "fma"} <= features:
        return Simd(8, 16, True, UNSIGNED if "avxvnni" in features else "")
    if "neon" in features:
        return Simd(4, 32, True, SIGNED if "dotprod" in features else "")
    return Simd(4, 16, False)
