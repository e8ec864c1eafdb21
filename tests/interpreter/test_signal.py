"""TensorFlow Lite Micro's signal operators, on the frames and the model of its own tests.

make_signal_goldens.py wrote what they expect, bit for bit.
"""

from pathlib import Path

import numpy as np
import pytest
from flatbuffers import flexbuffers

from flatlite.interpreter.interpreter import Interpreter

GOLDENS = np.load(Path(__file__).parent / "signal_goldens.npz")
PART = 1 << 14


def model(builder, saved, kind, inputs, results, options):
    """One operator; inputs are (shape, dtype) or constant arrays, results (shape, dtype)."""
    b, tensors = builder("main"), []
    for i, x in enumerate(inputs):
        if isinstance(x, np.ndarray):
            tensors.append(b.constant(f"c{i}", x))
        else:
            tensors.append(b.input(f"x{i}", x[0], x[1].upper()))
    outputs = [b.tensor(f"y{i}", s, d.upper()) for i, (s, d) in enumerate(results)]
    content = bytes(flexbuffers.Dumps(options))
    b.op("CUSTOM", tensors, outputs, custom_code=kind, custom_options=content)
    return Interpreter(model_content=saved(b.outputs(*outputs)))


def run(interpreter, *arrays):
    interpreter.allocate_tensors()
    for detail, array in zip(interpreter.get_input_details(), arrays, strict=True):
        interpreter.set_tensor(detail["index"], np.asarray(array, detail["dtype"]))
    interpreter.invoke()
    return [interpreter.get_tensor(d["index"]) for d in interpreter.get_output_details()]


def frames(name, lines):
    """The frames of a file, each a list of its lines."""
    count = sum(key.startswith(f"{name}:") for key in GOLDENS.files) // lines
    return [[GOLDENS[f"{name}:{i}:{j}"] for j in range(lines)] for i in range(count)]


def head(name):
    return [float(word) for word in str(GOLDENS[f"{name}:head"]).split()]


def preprocessor_table():
    """The table of the gain control in the example's model, which the test of PCAN has, too."""
    interpreter = Interpreter(model_content=GOLDENS["model"].tobytes())
    details = interpreter.get_tensor_details()
    (index,) = [d["index"] for d in details if d["shape"].tolist() == [125]]
    return interpreter.get_tensor(index)


def test_window(builder, saved):
    steps = frames("window", 2)
    n = steps[0][0].size
    weights = np.round((0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(n) + 0.5) / n)) * 4096)
    row = ((n,), "int16")
    inputs = [row, weights.astype(np.int16)]
    interpreter = model(builder, saved, "SignalWindow", inputs, [row], {"shift": 12})
    for x, y in steps:
        assert np.array_equal(run(interpreter, x)[0], y)


def test_fft_auto_scale(builder, saved):
    steps = frames("fft_auto_scale", 3)
    row = (steps[0][0].shape, "int16")
    outs = [row, ((), "int32")]
    interpreter = model(builder, saved, "SignalFftAutoScale", [row], outs, {})
    for x, y, bits in steps:
        got = run(interpreter, x)
        assert np.array_equal(got[0], y)
        assert got[1] == bits


def test_rfft(builder, saved):
    options = {"T": 7, "fft_length": 512}
    steps = frames("rfft", 2)
    row, outs = (steps[0][0].shape, "int16"), [((514,), "int16")]
    interpreter = model(builder, saved, "SignalRfft", [row], outs, options)
    for x, y in steps:
        assert np.array_equal(run(interpreter, x)[0], y)


@pytest.mark.parametrize("n", [16, 60, 240, 512])
@pytest.mark.parametrize("dtype", ["float32", "int16", "int32"])
def test_transforms_are_those_of_numpy_but_for_rounding(builder, saved, n, dtype):
    """The definition: integers are divided by the length; and back."""
    random = np.random.default_rng(n)
    if dtype == "float32":
        x, rounding = random.normal(size=(3, n)).astype(dtype), 1e-5
    else:
        most = np.iinfo(dtype).max // 2
        x, rounding = random.integers(-most, most, (3, n)).astype(dtype), 8
    options = {"fft_length": n}
    forward = model(builder, saved, "SignalRfft", [((3, n), dtype)], [((3, n + 2), dtype)], options)
    (pairs,) = run(forward, x)
    spectrum = np.fft.rfft(x.astype(float)) / (1 if dtype == "float32" else n)
    want = np.stack([spectrum.real, spectrum.imag], -1).reshape(3, n + 2)
    assert np.abs(pairs - want).max() < rounding * (10 if dtype == "float32" else 1)
    back = model(builder, saved, "SignalIrfft", [((3, n + 2), dtype)], [((3, n), dtype)], options)
    want = np.fft.irfft(pairs[..., ::2] + 1j * pairs[..., 1::2])
    assert np.abs(run(back, pairs)[0] - want).max() < rounding


def test_energy(builder, saved):
    start, end = map(int, head("energy"))
    options = {"start_index": start, "end_index": end}
    outs = [((257,), "uint32")]
    interpreter = model(builder, saved, "SignalEnergy", [((514,), "int16")], outs, options)
    for x, y in frames("energy", 2):
        assert np.array_equal(run(interpreter, x)[0][start:end], y[start:end])


def test_square_root(builder, saved):
    x = frames("filter_bank_square_root", 3)[0][0]
    inputs = [(x.shape, "uint64"), ((), "int32")]
    outs = [(x.shape, "uint32")]
    interpreter = model(builder, saved, "SignalFilterBankSquareRoot", inputs, outs, {})
    for x, bits, y in frames("filter_bank_square_root", 3):
        assert np.array_equal(run(interpreter, x, bits[0])[0], y)


def test_spectral_subtraction_remembers_the_noise(builder, saved):
    channels, smoothing, alternate, bits, least, clamping = head("filter_bank_spectral_subtraction")
    assert alternate == 0  # which stands for the same as the others
    part = int(smoothing * PART)
    options = {
        "alternate_one_minus_smoothing": PART - part,
        "alternate_smoothing": part,
        "clamping": bool(clamping),
        "min_signal_remaining": int(least * PART),
        "num_channels": int(channels),
        "one_minus_smoothing": PART - part,
        "smoothing": part,
        "smoothing_bits": int(bits),
        "spectral_subtraction_bits": 14,
    }
    shape = ((int(channels),), "uint32")
    kind = "SignalFilterBankSpectralSubtraction"
    interpreter = model(builder, saved, kind, [shape], [shape, shape], options)
    steps = frames("filter_bank_spectral_subtraction", 3)
    for x, y, noise in steps:
        got = run(interpreter, x)
        assert np.array_equal(got[1], noise)
        assert np.array_equal(got[0], y)
    copied = interpreter.clone()
    interpreter.reset_all_variables()
    assert np.array_equal(run(interpreter, steps[0][0])[1], steps[0][2])
    assert not np.array_equal(run(copied, steps[0][0])[1], steps[0][2])


def test_pcan(builder, saved):
    shape = ((40,), "uint32")
    inputs = [shape, shape, preprocessor_table()]
    interpreter = model(builder, saved, "SignalPCAN", inputs, [shape], {"snr_shift": 6})
    for x, noise, y in frames("pcan_op", 3):
        assert np.array_equal(run(interpreter, x, noise)[0], y)


def test_framer(builder, saved):
    size, step, prefill = map(int, head("framer"))
    options = {"frame_size": size, "frame_step": step, "prefill": bool(prefill)}
    outs = [((1, size), "int16"), ((), "bool")]
    interpreter = model(builder, saved, "SignalFramer", [((step,), "int16")], outs, options)
    for x, y, valid in frames("framer", 3):
        got = run(interpreter, x)
        assert np.array_equal(got[0].ravel(), y)
        assert got[1] == valid[0]


def test_stacker(builder, saved):
    channels, left, right, step = map(int, head("stacker"))
    options = {
        "num_channels": channels,
        "stacker_left_context": left,
        "stacker_right_context": right,
        "stacker_step": step,
    }
    outs = [((channels * (left + 1 + right),), "int16"), ((), "bool")]
    interpreter = model(builder, saved, "SignalStacker", [((channels,), "int16")], outs, options)
    for x, y, valid in frames("stacker", 3):
        got = run(interpreter, x)
        assert got[1] == valid[0]
        assert np.array_equal(got[0], y)


def test_delay_as_its_documentation_has_it(builder, saved):
    shape = [((10,), "int16")]
    interpreter = model(builder, saved, "SignalDelay", shape, shape, {"delay_length": 3})
    x = [1, 2, 3, 4, 5, 6, 7, 8, 9, 0]
    assert run(interpreter, x)[0].tolist() == [0, 0, 0, 1, 2, 3, 4, 5, 6, 7]
    assert run(interpreter, [0] * 10)[0].tolist() == [8, 9, 0, 0, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize("dtype", ["int16", "float32"])
def test_overlap_add_as_its_documentation_has_it(builder, saved, dtype):
    options = {"frame_step": 2}
    interpreter = model(
        builder, saved, "SignalOverlapAdd", [((5, 3), dtype)], [((10,), dtype)], options
    )
    x = [[1, 2, 3], [4, 5, 6], [7, 8, 9], [0, 1, 2], [3, 4, 5]]
    # The documentation leaves the first overlap out of its second row and adds it wrongly in the
    # fourth; these are the sums of its own drawing.
    assert run(interpreter, x)[0].tolist() == [1, 2, 7, 5, 13, 8, 9, 1, 5, 4]


@pytest.mark.parametrize("word", ["No", "Yes"])
def test_features_of_speech(word):
    """All operators of a spectrogram in a real file; features as the example's test has them."""
    interpreter = Interpreter(model_content=GOLDENS["model"].tobytes())
    (features,) = run(interpreter, GOLDENS[f"clip:{word}"].reshape(1, 480))
    assert np.array_equal(features.ravel(), GOLDENS[f"features:{word}"])


@pytest.mark.parametrize(
    ("kind", "inputs", "outs", "options", "message"),
    [
        ("SignalRfft", [((8,), "int16")], [((16,), "int16")], {"fft_length": 14}, "that 4 divides"),
        ("SignalRfft", [((8,), "int16")], [((16,), "int16")], {}, "option fft_length is missing"),
        ("SignalDelay", [((8,), "int16")], [((8,), "int16")], {"delay_length": -1}, "got -1"),
        ("SignalWindow", [((8,), "int16")] * 2, [((8,), "int16")], {"shift": 32}, "got 32"),
        (
            "SignalEnergy",
            [((8,), "float32")],
            [((4,), "uint32")],
            {"start_index": 0, "end_index": 2},
            "must be int16",
        ),
    ],
)
def test_refused(builder, saved, kind, inputs, outs, options, message):
    with pytest.raises(RuntimeError, match=message):
        model(builder, saved, kind, inputs, outs, options).allocate_tensors()
