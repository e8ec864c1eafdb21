"""Rows of the same segment reduced to one."""

from numba import int64

from ...build.kernel import kernel, set_fault
from ...run.faults import NOT_SORTED, VALUE_OUT_OF_RANGE
from ._formulas import larger_of, product_of, smaller_of, sum_of

NUMBERS = ("float32", "int32", "int64")
INDICES = ("int32", "int64")


def segments(formula):
    """inout[ids[n]] = formula(inout[ids[n]], x[n]); a negative id leaves its row out.

    `sorted_ids` asks that ids do not decrease.
    """

    def run(x, ids, inout, sorted_ids, first, last, fault):
        previous = int64(0)
        for n in range(x.shape[0]):
            segment = int64(ids[n])
            if segment >= inout.shape[0]:
                set_fault(fault, VALUE_OUT_OF_RANGE, n, segment, inout.shape[0])
                return
            if sorted_ids and segment < previous:
                set_fault(fault, NOT_SORTED, n, segment, previous)
                return
            previous = segment
            if segment >= 0:
                for s in range(x.shape[1]):
                    inout[segment, s] = formula(inout[segment, s], x[n, s])

    return run


for _name, _formula in (
    ("sum", sum_of),
    ("product", product_of),
    ("largest", larger_of),
    ("smallest", smaller_of),
):
    kernel("x:T[n,s] ids:I[n] inout:T[*,s] sorted_ids:i", name=_name, T=NUMBERS, I=INDICES)(
        segments(_formula)
    )
