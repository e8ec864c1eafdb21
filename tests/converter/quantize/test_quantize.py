"""Our quantized files beside those TensorFlow's converter made of the same sources and samples.

LiteRT must run them, our interpreter must give what its reference kernels give, bit for bit, the
file must not be larger than TensorFlow's, and the error against the float model must not be above
1.02 times that of TensorFlow's file. What both files hold has the same scale.
"""

import numpy as np
import pytest
from quantizing import (
    IO_TYPES,
    KINDS,
    File,
    convert,
    float_steps,
    nearest,
    quantized_rows,
    recorded,
    samples,
    variant_of,
)
from refusals import not_yet
from running import answers

from flatlite.engine.build.target import flags
from flatlite.errors import ConverterError

WORST = 1.02
ROUNDING = 1e-5  # share of an output's largest value by which sums in another order may differ
FLOAT = 1e-7  # the same, as an error that is not quantization's
SEED = 4
SMALL = (np.int8, np.uint8, np.int16)
CARRIED = "TensorFlow's file carries states from sample to sample while calibrated: other ranges"
ON_ALL_SAMPLES = {
    "B/tfk_lstm/bidir/int8": CARRIED,
    "B/tfk_lstm/big_dyn/int8": CARRIED,
    "C/lstm_text_k3/tflite_b1_dyn": "one inference is three numbers, and the gates are no WHILE",
}
"""Rows whose errors are compared over all samples, and why one inference says nothing."""

REFUSED = frozenset(
    f"B/{name}/int16x8"
    for name in (
        *("pad/value", "squared_difference/same"),
        *("squared_difference/bc_last", "squared_difference/bc_both"),
    )
)
"""Rows whose TensorFlow file LiteRT has no kernel for: there is no error to compare with."""

OTHER_SCALES = {
    "sum": "TensorFlow's int16 SUM has the scale of what it sums, and overflows",
    "add_n": "TensorFlow gives the inputs the scale of the sum, which stays float",
}
"""Families whose inputs and outputs have not the scales that TensorFlow's file has, and why."""

ROUNDED_SUMS = {
    "A/fully_connected/009": 2,
    "C/mobilenet_v2_k3/tflite_int8": 3,
    **{f"B/conv2d/{name}/int8": 2 for name in ("groups2", "relu", "s2_valid", "tanh")},
    **{f"B/conv2d/{name}/int8_pt": 2 for name in ("groups2", "relu", "s2_valid", "tanh")},
    **{f"B/conv2d/{name}/uint8io": 2 for name in ("groups2", "relu", "s2_valid", "tanh")},
    **{f"B/conv2d/{name}/int16x8": 2 for name in ("relu", "tanh")},
    **{f"B/tfk_{name}/int8": 2 for name in ("gru/unroll1_seq0", "lstm/unroll1_seq1")},
    "B/tfk_lstm/unroll1_seq1/int16x8": 2,
}
"""Rows with scales that are more than one float32 number apart, and how many.

TensorFlow's calibrator adds the even and the odd products apart and rounds each product; LiteRT's
kernels, flatlite's among them, round otherwise, and each of them in another way. The figures are
those of processors with AVX2; others sum as many numbers at a time as their vectors hold.
"""
HAS_AVX2 = "avx2" in flags() and "avx512f" not in flags()
MOST_STEPS = 8  # on other processors

FEWER = "fewer operators: "
READS_UINT8 = FEWER + "DEQUANTIZE reads the input, which TensorFlow makes int8 first"
OVERWRITTEN = "TensorFlow reads ranges that an ADD has overwritten"
OTHER_FORMS = {
    "A/concat/003": FEWER + "inputs are quantized once, in the scale of the result",
    "A/softsign/002": "stays float: its steps would round a divisor to 0",
    "A/split/002": FEWER + "a split into one part is nothing",
    "B/conv3d/k3/int8": FEWER + "ADD is a bias",
    "B/sum/last/int16x8": OTHER_SCALES["sum"],
    "C/mobilenet_v2_k3/tflite_int8": OVERWRITTEN,
    **dict.fromkeys(("B/add_n/three/int8", "B/add_n/three/uint8io"), OTHER_SCALES["add_n"]),
    **{f"B/{name}/r4/uint8io": READS_UINT8 for name in ("cos", "sign", "sin", "square")},
    **{f"B/{name}/int8": CARRIED for name in ("tfk_lstm/bidir", "tfk_lstm/big_dyn")},
    "C/lstm_text_tfk/tflite_b1_int8": CARRIED,
    **{
        f"B/{name}/{variant}": reason
        for name, reason in (
            ("attention/mha", FEWER + "the factor is in the weights of the query"),
            ("selu/r4", "ELU in the place of EXP, whose range grows with its input"),
            ("softplus/r4", "LOGISTIC in the place of EXP, whose range grows with its input"),
            ("tfk_gru/unroll1_seq0", OVERWRITTEN),
            ("tfk_lstm/unroll1_seq1", FEWER + "the sum with the input's part is a bias"),
        )
        for variant in ("int8", "uint8io", "int16x8")
    },
}
"""Rows with tensors that ours has not, or not with their ranges, and why."""


@pytest.mark.parametrize("row", list(quantized_rows()), ids=lambda row: row["id"])
def test_corpus(row, corpus, litert, record_property):
    record_property("corpus", f"quantize {row['kind']} {KINDS[variant_of(row)]}")
    try:
        content = convert(row)
    except ConverterError as error:
        not_yet("converter", error, record_property)
    ours = File(row, content, is_theirs=False)
    inputs, expected = recorded(row)
    same_as_litert(row, ours, content, ours.quantized_inputs(inputs), litert)
    if kinds(ours).isdisjoint(("DIV", "RSQRT")):  # which do not take all numbers
        generator = np.random.default_rng(SEED)
        same_as_litert(row, ours, content, any_stored(ours, inputs, generator), litert)
    if row["id"] in REFUSED:
        assert KINDS[variant_of(row)] == "int16x8"
        return
    expected_content = (corpus / row["files"]["tflite"]).read_bytes()
    assert len(content) <= len(expected_content)
    theirs = File(row, expected_content, is_theirs=True)
    error, limit = (rms(file.real(inputs), expected) for file in (ours, theirs))
    if row["id"] in ON_ALL_SAMPLES:
        error, limit = sample_errors(row, ours, theirs, corpus)
        assert error <= WORST * limit, f"{error:.4g} against {limit:.4g} over all samples"
        return
    allowed = WORST * limit + FLOAT * largest(expected)
    assert error <= allowed, f"{error:.4g} against {limit:.4g} of TensorFlow's file"
    check_scales(row, ours, theirs, inputs)


def check_scales(row, ours: File, theirs: File, inputs) -> None:
    """What both files hold has the same zero point and a scale within one float32 number.

    But for the rows of three tables, which must differ as they say.
    """
    limit = ROUNDED_SUMS.get(row["id"], 1) if HAS_AVX2 else MOST_STEPS
    if row["family"] not in OTHER_SCALES:
        for mine, yours in zip(ours.schemes(), theirs.schemes(), strict=True):
            assert float_steps(mine[0], yours[0]) <= limit
            assert mine[1] == yours[1]
    if KINDS[variant_of(row)] not in IO_TYPES:
        return
    candidates = ours.activations(inputs)
    pairs = [(tensor, nearest(tensor, candidates)) for tensor in theirs.activations(inputs)]
    others = [tensor[0] for tensor, pair in pairs if pair is None or pair > (False, limit)]
    assert bool(others) == (row["id"] in OTHER_FORMS), others
    steps = [pair[1] for _, pair in pairs if pair is not None and pair <= (False, limit)]
    assert not HAS_AVX2 or row["id"] not in ROUNDED_SUMS or max(steps) == limit


def sample_errors(row, ours: File, theirs: File, corpus) -> list[float]:
    """What both files differ by from TensorFlow's float file, each sample without a past."""
    path = corpus / row["files"]["tflite"]
    name = "b1_float.tflite" if path.name.startswith("b1_") else "float.tflite"
    float_file = File(row, path.with_name(name).read_bytes(), True)
    gaps: list[list[float]] = [[], []]
    for sample in samples(row):
        for file in (float_file, ours, theirs):
            file.interpreter.reset_all_variables()
        expected = [x.astype(np.float32) for x in float_file.real(sample)]
        for errors, file in zip(gaps, (ours, theirs), strict=True):
            errors.append(rms(file.real(sample), expected))
    return [float(np.sqrt(np.mean(np.square(errors)))) for errors in gaps]


def kinds(file: File) -> set[str]:
    """The kinds of operators of a file."""
    return {detail["op_name"] for detail in file.interpreter._get_ops_details()}


def any_stored(file: File, inputs, generator) -> list[np.ndarray]:
    """Stored inputs over their whole range; real ones are the recorded ones in another order."""
    quantized = []
    for array in file.quantized_inputs(inputs):
        if array.dtype in SMALL:
            limits = np.iinfo(array.dtype)
            array = generator.integers(limits.min, limits.max, array.shape, array.dtype, True)
        elif array.dtype == np.float32:
            array = array.ravel()[::-1].reshape(array.shape)
        quantized.append(array)
    return quantized


def same_as_litert(row, file: File, content: bytes, feeds, litert) -> None:
    """LiteRT runs the file, and its reference kernels give what ours give."""
    resolver = "BUILTIN_WITHOUT_DEFAULT_DELEGATES" if row.get("ref_suspect") else "BUILTIN_REF"
    by_litert = litert.run(content, [feeds], resolver)
    if isinstance(by_litert, str) and "Didn't find op for builtin opcode" in by_litert:
        by_litert = litert.run(content, [feeds], "BUILTIN_WITHOUT_DEFAULT_DELEGATES")
    assert not isinstance(by_litert, str), by_litert
    exact = KINDS[variant_of(row)] in IO_TYPES
    for mine, yours in zip(answers(file.interpreter, *feeds), by_litert[0], strict=True):
        if mine.dtype != np.float32 or exact:
            np.testing.assert_array_equal(mine, yours)
        else:
            np.testing.assert_allclose(mine, yours, rtol=0, atol=ROUNDING * largest([yours]))


def rms(actual, expected) -> float:
    """The root of the mean square of the difference, over all outputs."""
    gaps = [
        (x - y.astype(np.float64)).ravel()
        for x, y in zip(actual, expected, strict=True)
        if y.dtype == np.float32
    ]
    return float(np.sqrt(np.mean(np.square(np.concatenate(gaps))))) if gaps else 0.0


def largest(arrays) -> float:
    """The largest absolute value in real arrays."""
    return max(
        (float(np.abs(x).max(initial=0)) for x in arrays if x.dtype == np.float32), default=0
    )
