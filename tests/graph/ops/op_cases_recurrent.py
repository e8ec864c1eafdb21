"""Cells of LSTM and GRU that are one operation, and their derivatives."""

import numpy as np
from op_cases import CASES, c, case, f

BEFORE = len(CASES)
TIME, BATCH, INPUTS, UNITS = 4, 3, 2, 5


def operands(*lead, dtype=np.float32):
    """x of these leading sizes, states, weights, peepholes and bias."""
    state = f(BATCH, UNITS, dtype=dtype)
    peephole = f(UNITS, dtype=dtype)
    weights = f(INPUTS + UNITS, 4 * UNITS, low=-1, high=1, dtype=dtype)
    bias = f(4 * UNITS, dtype=dtype)
    return f(*lead, INPUTS, dtype=dtype), state, state, weights, *[peephole] * 3, bias


def gates(*lead):
    """i, cs, f, o, ci, co as they can be."""
    gate = f(*lead, UNITS, low=0, high=1)
    return gate, f(*lead, UNITS), gate, gate, *[f(*lead, UNITS, low=-1, high=1)] * 2


SEQUENCE, STEP = operands(TIME, BATCH), operands(BATCH)
RESULTS = f(TIME, BATCH, UNITS)
ALL = c(TIME, np.int64)
for peephole in (False, True):
    forms = {
        "": {"use_peephole": peephole},
        "clip": {"use_peephole": peephole, "cell_clip": 0.5},
        "unclipped": {"use_peephole": peephole, "cell_clip": -1.0},
    }
    for form, attrs in forms.items():
        biased = attrs | {"forget_bias": 0.25} if form else attrs
        name = f"{peephole}{form}"
        case(f"BlockLSTM/{name}", "BlockLSTM", ALL, *SEQUENCE, rtol=1e-5, **biased)
        case(f"BlockLSTMV2/{name}", "BlockLSTMV2", ALL, *SEQUENCE, rtol=1e-5, **attrs)
        case(f"LSTMBlockCell/{name}", "LSTMBlockCell", *STEP, rtol=1e-5, **biased)
    for n_steps in (TIME, 2, 0):
        for version in ("", "V2"):
            case(f"BlockLSTMGrad{version}/{peephole}{n_steps}", f"BlockLSTMGrad{version}",
                 c(n_steps, np.int64), *SEQUENCE, *gates(TIME, BATCH), *[RESULTS] * 3, rtol=1e-5,
                 use_peephole=peephole)  # fmt: skip
    case(f"LSTMBlockCellGrad/{peephole}", "LSTMBlockCellGrad", *STEP, *gates(BATCH),
         *[f(BATCH, UNITS)] * 2, rtol=1e-5, use_peephole=peephole)  # fmt: skip
case("BlockLSTM/half", "BlockLSTM", ALL, *operands(TIME, BATCH, dtype=np.float16), rtol=4e-3)
case("LSTMBlockCell/half", "LSTMBlockCell", *operands(BATCH, dtype=np.float16), rtol=4e-3,
     use_peephole=True)  # fmt: skip
RESET = (
    *[f(BATCH, INPUTS), f(BATCH, UNITS)],
    *[f(INPUTS + UNITS, 2 * UNITS), f(INPUTS + UNITS, UNITS), f(2 * UNITS), f(UNITS)],
)
case("GRUBlockCell", "GRUBlockCell", *RESET, rtol=1e-5)
case("GRUBlockCellGrad", "GRUBlockCellGrad", *RESET, *[f(BATCH, UNITS, low=0, high=1)] * 3,
     f(BATCH, UNITS), rtol=1e-5)  # fmt: skip
RECURRENT_CASES = CASES[BEFORE:]
