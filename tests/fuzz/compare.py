"""When two answers are equal: integers exactly, floats within their operators' tolerance.

A tolerance is for one operator on operands of about one: relative to the largest finite value of
the output, as sums of values of both signs lose digits against what was added, not what is left.
"""

import numpy as np

LARGEST = np.finfo(np.float32).max
"""An overflow: kernels with a fused activation end here, others at infinity."""
SMALL = 0.01
"""Added to the largest value: 1 + tanh(x), say, has no digits left where it is small."""
DEFAULT = 2e-6
TOLERANCE = {
    **dict.fromkeys(("SIN", "COS"), 1e-5),  # LiteRT's std::sin; ours is vectorised
    **dict.fromkeys(("EXP", "POW", "REDUCE_PROD"), 1e-5),  # errors grow with the exponent
    **dict.fromkeys(("CONV_2D", "DEPTHWISE_CONV_2D", "CONV_3D", "TRANSPOSE_CONV"), 1e-5),
    **dict.fromkeys(("FULLY_CONNECTED", "BATCH_MATMUL", "SUM", "MEAN", "CUMSUM"), 1e-5),
    **dict.fromkeys(("SOFTMAX", "LOG_SOFTMAX", "LOGISTIC", "TANH", "ELU", "GELU"), 1e-5),
    **dict.fromkeys(("L2_NORMALIZATION", "LOCAL_RESPONSE_NORMALIZATION"), 1e-5),
    "UNSORTED_SEGMENT_PROD": 1e-5,
}
"""Operator -> tolerance where sums, or functions by other polynomials, allow no smaller one."""
COARSE = {"float16": 2.0**-10, "bfloat16": 2.0**-7}
"""Type -> one step of it near 1: a result between two of its numbers becomes one or the other."""


def tolerance_of(ops) -> float:
    """The tolerance of a graph of these operators: errors add up."""
    return sum(TOLERANCE.get(op, DEFAULT) for op in ops)


def difference(got, want, tolerance, names=None) -> str:
    """How two lists of outputs differ, in a line; empty when they are equal."""
    if len(got) != len(want):
        return f"{len(want)} outputs expected, got {len(got)}"
    for i, (ours, theirs) in enumerate(zip(got, want, strict=True)):
        ours, theirs = np.asarray(ours), np.asarray(theirs)
        label = names[i] if names else f"output {i}"
        if (ours.dtype, ours.shape) != (theirs.dtype, theirs.shape):
            return f"{label} must be {_form(theirs)}, got {_form(ours)}"
        wrong = ~close(ours, theirs, tolerance)
        if wrong.any():
            at = tuple(int(n) for n in np.argwhere(wrong)[0])
            return (
                f"{label} ({_form(theirs)}): {wrong.sum()} of {wrong.size} differ, at {at} "
                f"{theirs[at]} expected, got {ours[at]}"
            )
    return ""


def close(ours, theirs, tolerance):
    """Where two arrays are equal."""
    tolerance = max(tolerance, COARSE.get(ours.dtype.name, 0.0))
    if ours.dtype.name == "bfloat16":
        ours, theirs = (a.astype(np.float32) for a in (ours, theirs))
    if ours.dtype == bool:  # of bytes, as LiteRT's sums of bools may be 2
        ours, theirs = ours.view(np.uint8), theirs.view(np.uint8)
        return (ours == theirs) | (ours == (theirs != 0))
    if ours.dtype.kind not in "fc":
        return ours == theirs
    with np.errstate(all="ignore"):
        finite = np.abs(theirs[np.isfinite(theirs)])
        largest = float(finite.max()) if finite.size else 0.0
        near = np.abs(ours - theirs) <= tolerance * (largest + SMALL)
        beyond = [np.sign(a) * (np.abs(a) >= LARGEST) for a in (ours, theirs)]
        near |= (beyond[0] == beyond[1]) & (beyond[0] != 0)
    return (ours == theirs) | near | (np.isnan(ours) & np.isnan(theirs))


def _form(array):
    return f"{array.dtype}[{','.join(map(str, array.shape))}]"
