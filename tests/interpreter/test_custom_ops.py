"""Custom operators that come with flatlite: against LiteRT, where it has them, and TensorFlow."""

import re
import struct
from pathlib import Path

import numpy as np
import pytest
from flatbuffers import flexbuffers
from running import answers as run

import flatlite
from flatlite.interpreter.custom_ops.registry import HOMES, SHIPPED
from flatlite.interpreter.interpreter import Interpreter
from flatlite.interpreter.profile import profile
from flatlite.schema import custom_ops
from flatlite.schema.quantization import Quantization

RANDOM = np.random.default_rng(0)
SCALE = {"quantization": Quantization(np.float32([0.05]), np.int64([3]), 0)}


def normal(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def uniform(*shape):
    return RANDOM.uniform(size=shape).astype(np.float32)


def one_op(builder, saved, kind, inputs, outs, options, version=1, fields=()):
    """A model of one custom operator; `options` are bytes or a FlexBuffer's map."""
    b = builder("main")
    xs = [
        b.input(f"x{i}", x.shape, x.dtype.name.upper(), **(fields[i] if i < len(fields) else {}))
        for i, x in enumerate(inputs)
    ]
    ys = [b.tensor(f"y{i}", s, np.dtype(d).name.upper()) for i, (s, d) in enumerate(outs)]
    content = options if isinstance(options, bytes) else bytes(flexbuffers.Dumps(options))
    b.op("CUSTOM", xs, ys, custom_code=kind, custom_options=content)
    b.subgraph.operators[-1].version = version
    return saved(b.outputs(*ys))


def detection(regular, classes=4, background=1, per_anchor=1, boxes=60, quantized=False):
    """Boxes of some clusters, so that many overlap."""
    encodings, anchors = normal(1, boxes, 4) * 0.3, uniform(boxes, 4)
    scores = uniform(1, boxes, classes + background)
    options = {
        "max_detections": 10,
        "max_classes_per_detection": per_anchor,
        "detections_per_class": 7,
        "use_regular_nms": regular,
        "nms_score_threshold": 0.4,
        "nms_iou_threshold": 0.3,
        "num_classes": classes,
        "y_scale": 10.0,
        "x_scale": 10.0,
        "h_scale": 5.0,
        "w_scale": 5.0,
    }
    inputs = [encodings, scores, anchors]
    fields = ()
    if quantized:
        inputs = [RANDOM.integers(0, 256, x.shape).astype(np.uint8) for x in inputs]
        scales = ((0.01, 128), (1 / 256, 0), (1 / 256, 0))
        fields = [
            {"quantization": Quantization(np.float32([s]), np.int64([z]), 0)} for s, z in scales
        ]
    n = 10 * per_anchor
    outs = [((1, n, 4), "f4"), ((1, n), "f4"), ((1, n), "f4"), ((1,), "f4")]
    return "TFLite_Detection_PostProcess", inputs, outs, options, fields


def spectrogram(squared, window=300, stride=128, channels=2):
    options = {"window_size": window, "stride": stride, "magnitude_squared": squared}
    n = (2000 - window) // stride + 1
    length = 1 << (window - 1).bit_length()
    outs = [((channels, n, length // 2 + 1), "f4")]
    return "AudioSpectrogram", [normal(2000, channels)], outs, options, ()


def mfcc(n_channels=40, n_out=13, low=20, high=4000, bins=257, rate=16000):
    options = {
        "upper_frequency_limit": high,
        "lower_frequency_limit": low,
        "filterbank_channel_count": n_channels,
        "dct_coefficient_count": n_out,
    }
    inputs = [np.square(normal(2, 5, bins)), np.array([rate], np.int32)]
    return "Mfcc", inputs, [((2, 5, n_out), "f4")], options, ()


def verified(dtype, tolerance=5.0, strict=False):
    x = RANDOM.integers(-20, 20, (3, 4)).astype(dtype)
    inputs = [x, (x.astype(np.float32) - 3) * np.float32(0.05) + normal(3, 4) * np.float32(0.02)]
    options = {"tolerance": tolerance, "log_if_failed": strict}
    return "NumericVerify", inputs, [((3, 4), "f4")], options, [SCALE]


def rotated(size, *shape):
    options = {"hadamard_size": size, "random_binary_vector": [1] * size}
    return "aeq.hadamard_rotation", [normal(*shape)], [(shape, "f4")], options, ()


LITERT = {
    "detection_regular": detection(True),
    "detection_regular_no_background": detection(True, background=0),
    "detection_fast": detection(False),
    "detection_fast_two_classes": detection(False, per_anchor=2),
    "detection_quantized": detection(True, quantized=True),
    "spectrogram": spectrogram(False),
    "spectrogram_squared": spectrogram(True, window=256, stride=100, channels=1),
    "mfcc": mfcc(),
    "mfcc_wide": mfcc(26, 26, 100, 7900, 129, 16000),
    "numeric_verify_int8": verified(np.int8),
    "numeric_verify_int16": verified(np.int16),
    "numeric_verify_strict": verified(np.int8, 5.0, True),
}


@pytest.mark.parametrize("name", LITERT)
def test_as_litert(name, builder, saved, litert):
    kind, inputs, outs, options, fields = LITERT[name]
    if name.startswith("numeric_verify_int16"):
        fields = [{"quantization": Quantization(np.float32([0.05]), np.int64([0]), 0)}]
    content = one_op(builder, saved, kind, inputs, outs, options, fields=fields)
    (theirs,) = litert.run(content, [inputs])
    ours = run(Interpreter(model_content=content), *inputs)
    if kind == "TFLite_Detection_PostProcess" and not options["use_regular_nms"]:
        n = int(theirs[3][0]) * options["max_classes_per_detection"]  # LiteRT writes no more
        assert not ours[2][0, n:].any()
        theirs, ours = ([*(x[:, :n] for x in y[:3]), y[3]] for y in (theirs, ours))
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(("size", "shape"), [(4, (3, 8)), (128, (2, 3, 256)), (64, (5, 64))])
def test_hadamard_rotation(builder, saved, size, shape):
    """Sylvester's matrices, whose rows are orthogonal; LiteRT's wheel lacks the operator."""
    kind, (x,), outs, options, _ = rotated(size, *shape)
    matrix = np.ones((1, 1))
    while len(matrix) < size:
        matrix = np.kron([[1, 1], [1, -1]], matrix)
    content = one_op(builder, saved, kind, [x], outs, options)
    want = x.reshape(-1, size).astype(float) @ matrix / np.sqrt(size)
    interpreter = Interpreter(model_content=content)
    (y,) = run(interpreter, x)
    np.testing.assert_allclose(y.reshape(-1, size), want, rtol=0, atol=1e-6)
    assert [row.kind for row in profile(interpreter)] == [kind]


def test_numeric_verify_refuses_as_litert(builder, saved, litert):
    kind, inputs, outs, options, fields = verified(np.int8, 0.2, True)
    content = one_op(builder, saved, kind, inputs, outs, options, fields=fields)
    assert "NumericVerify) failed to invoke" in litert.run(content, [inputs])
    with pytest.raises(RuntimeError, match=r"numbers must differ by at most 0.01, got 0.0"):
        run(Interpreter(model_content=content), *inputs)


def pool_params(padding, stride, size):
    """LiteRT's TfLitePoolParams: padding, strides and sizes, the width first; no activation."""
    return struct.pack("<6i", padding, *stride, *size, 0) + bytes(16)


@pytest.mark.parametrize(("padding", "same"), [(2, False), (1, True)])
def test_max_unpooling_as_litert_defines_it(builder, saved, padding, same):
    """The example of LiteRT's max_unpooling_2d_test: places in the whole image."""
    x = np.float32([13, 4]).reshape(1, 1, 2, 1)
    places = np.int32([1, 6]).reshape(1, 1, 2, 1)
    content = one_op(
        builder,
        saved,
        "MaxUnpooling2D",
        [x, places],
        [((1, 2, 4, 1), "f4")],
        pool_params(padding, (2, 2), (2, 2)),
    )
    (y,) = run(Interpreter(model_content=content), x, places)
    assert y.ravel().tolist() == [0, 13, 0, 0, 0, 0, 4, 0]
    with pytest.raises(RuntimeError, match=r"indices must be in \[0, 8\), got 1 to 8"):
        run(Interpreter(model_content=content), x, places + np.int32([0, 2]).reshape(1, 1, 2, 1))


def bilinear(image, y, x):
    """One point of an image, by the definition."""
    if not (0 <= x <= image.shape[1] - 1 and 0 <= y <= image.shape[0] - 1):
        return np.zeros(image.shape[2])
    i, j = int(np.floor(y)), int(np.floor(x))
    total = np.zeros(image.shape[2])
    for a in (0, 1):
        for b in (0, 1):
            if i + a < image.shape[0] and j + b < image.shape[1]:
                share = (a * (y - i) or (1 - a) * (1 - (y - i))) * (
                    b * (x - j) or (1 - b) * (1 - (x - j))
                )
                total += share * image[i + a, j + b]
    return total


def test_transform_tensor_bilinear_1(builder, saved):
    x, matrix = normal(1, 6, 7, 2), np.eye(4, dtype=np.float32)
    matrix[:2, :2], matrix[:2, 3] = [[0.8, -0.3], [0.2, 1.1]], [0.41, -0.63]
    inputs, out = [x, matrix.reshape(1, 4, 4)], [((1, 5, 9, 2), "f4")]
    content = one_op(builder, saved, "TransformTensorBilinear", inputs, out, {})
    (y,) = run(Interpreter(model_content=content), *inputs)
    for i in range(5):
        for j in range(9):
            at = matrix @ [j, i, 0, 1]
            want = bilinear(x[0].astype(float), at[1], at[0])
            np.testing.assert_allclose(y[0, i, j], want, atol=1e-5)


def test_transform_landmarks_1(builder, saved):
    points, matrix, scale = normal(1, 1, 1, 12), normal(1, 4, 4), 2.5
    options = {"dimensions": 3, "scale": scale}
    inputs, outs = [points, matrix], [(points.shape, "f4")]
    content = one_op(builder, saved, "TransformLandmarks", inputs, outs, options)
    (y,) = run(Interpreter(model_content=content), *inputs)
    for got, point in zip(y.reshape(-1, 3), points.reshape(-1, 3), strict=True):
        at = matrix[0, :2] @ [point[0], point[1], 0, 0] + matrix[0, :2, 3] * scale
        np.testing.assert_allclose(got[:2], at, rtol=1e-5, atol=1e-5)
        assert np.array_equal(got[2:], point[2:])


def test_resampler_and_image_warp_leave_images_where_nothing_moves(builder, saved):
    x = normal(2, 5, 6, 3)
    rows, columns = np.mgrid[:5, :6].astype(np.float32)
    points = np.broadcast_to(np.stack([columns, rows], -1), (2, 5, 6, 2)).copy()
    half = points + np.float32(0.5)
    for kind, flow, shifted in (
        ("Resampler", points, half),
        ("DenseImageWarp", points * 0, points * 0 - np.float32(0.5)),
    ):
        content = one_op(builder, saved, kind, [x, flow], [(x.shape, "f4")], {})
        interpreter = Interpreter(model_content=content)
        np.testing.assert_allclose(run(interpreter, x, flow)[0], x, atol=1e-6)
        (y,) = run(interpreter, x, shifted)
        want = (x[:, :-1, :-1] + x[:, 1:, :-1] + x[:, :-1, 1:] + x[:, 1:, 1:]) / 4
        np.testing.assert_allclose(y[:, :-1, :-1], want, atol=1e-6)


def test_a_registered_class_goes_first(builder, saved, monkeypatch, tmp_path):
    """Also where a plan of the shipped operator might be kept."""
    monkeypatch.setattr(custom_ops, "_CUSTOM_OPS", {})
    kind, inputs, outs, options, _ = rotated(4, 3, 8)
    path = tmp_path / "model.tflite"
    path.write_bytes(one_op(builder, saved, kind, inputs, outs, options))
    shipped = [run(Interpreter(model_path=str(path)), *inputs)[0] for _ in range(2)]
    assert np.array_equal(*shipped)

    @flatlite.lite.custom_op(kind)
    class Same:
        def prepare(self, x):
            return [(x.shape, x.dtype)]

        def run(self, x):
            return x

    assert np.array_equal(run(Interpreter(model_path=str(path)), *inputs)[0], inputs[0])


GRU = np.load(Path(__file__).parent / "gru_goldens.npz")


@pytest.mark.parametrize("case", range(9))
def test_unidirectional_sequence_gru_as_tensorflow(case, builder, saved):
    inputs, want = [GRU[f"{case}:in:{i}"] for i in range(6)], GRU[f"{case}:out"]
    outs = [(want.shape, "f4"), (want.shape[1:], "f4")]
    content = one_op(builder, saved, "UnidirectionalSequenceGru", inputs, outs, {})
    states, last = run(Interpreter(model_content=content), *inputs)
    np.testing.assert_allclose(states, want, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(last, states[-1])


GOLDENS = np.load(Path(__file__).parent / "custom_goldens.npz")
POOL_3D = {"ksize": [1, 2, 3, 2, 1], "strides": [1, 2, 2, 1, 1], "data_format": "NDHWC"}
POOL = {"ksize": [1, 3, 2, 1], "strides": [1, 2, 2, 1], "include_batch_in_index": False}
CTC = {"beam_width": 8, "top_paths": 3}
TENSORFLOW = {
    **{
        f"{k}Pool3D_{p}": POOL_3D | {"padding": p}
        for k in ("Max", "Avg")
        for p in ("SAME", "VALID")
    },
    **{f"MaxPoolWithArgmax_{p}": POOL | {"padding": p} for p in ("SAME", "VALID")},
    "Roll": {},
    "IRFFT2D": {},
    "BroadcastGradientArgs_a": {},
    "BroadcastGradientArgs_b": {},
    "BroadcastGradientArgs_c": {},
    "CTCBeamSearchDecoder_False": CTC | {"merge_repeated": False},
    "CTCBeamSearchDecoder_True": CTC | {"merge_repeated": True},
}


def golden(name, kind):
    keys = [key for key in GOLDENS.files if key.startswith(f"{name}:{kind}:")]
    return [GOLDENS[f"{name}:{kind}:{i}"] for i in range(len(keys))]


@pytest.mark.parametrize("name", TENSORFLOW)
def test_as_tensorflow(name, builder, saved):
    inputs, expected = golden(name, "in"), golden(name, "tf")
    kind = name.partition("_")[0]
    outs = [(y.shape, y.dtype) for y in expected]
    content = one_op(builder, saved, kind, inputs, outs, TENSORFLOW[name])
    for mine, theirs in zip(
        run(Interpreter(model_content=content), *inputs), expected, strict=True
    ):
        assert mine.shape == theirs.shape
        if theirs.dtype.kind == "i":
            assert np.array_equal(mine, theirs)
        else:
            np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)


MEDIAPIPE = np.load(Path(__file__).parent / "mediapipe_goldens.npz")
ROWS = sorted({int(key.partition(":")[0]) for key in MEDIAPIPE.files})


def recorded(row, side):
    return [MEDIAPIPE[f"{row}:{side}:{i}"] for i in range(4) if f"{row}:{side}:{i}" in MEDIAPIPE]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{MEDIAPIPE[f'{row}:kind'][0]}-{row}")
def test_as_mediapipe(row, builder, saved):
    """On its own models' values, and with other options."""
    (kind, version), options = MEDIAPIPE[f"{row}:kind"], MEDIAPIPE[f"{row}:options"].tobytes()
    inputs, expected = recorded(row, "in"), recorded(row, "out")
    outs = [(y.shape, y.dtype) for y in expected]
    content = one_op(builder, saved, str(kind), inputs, outs, options, int(version))
    answers = run(Interpreter(model_content=content), *inputs)
    for mine, theirs in zip(answers, expected, strict=True):
        if kind.startswith("Max"):
            assert np.array_equal(mine, theirs)
        else:
            np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-6 * np.abs(theirs).max())


def test_roll_by_known_steps_is_instructions(builder, saved):
    x, shift, axis = golden("Roll", "in")
    b = builder("main")
    tensors = [b.input("x", x.shape), b.constant("shift", shift), b.constant("axis", axis)]
    y = b.tensor("y", x.shape)
    b.op("CUSTOM", tensors, [y], custom_code="Roll", custom_options=b"")
    (rolled,) = run(Interpreter(model_content=saved(b.outputs(y))), x)
    assert np.array_equal(rolled, golden("Roll", "tf")[0])


@pytest.mark.parametrize("kind", ["ParseExample", "ParseExampleV2"])
def test_parse_example_as_tensorflow(builder, saved, kind):
    expected = golden("ParseExampleV2", "tf")
    b = builder("main")

    def strings(name, *values):
        array = np.empty(len(values), object)
        array[:] = values
        return b.tensor(name, (len(values),), "STRING", data=array)

    real = b.constant("real", np.float32([7, 8]))
    words = strings("word", b"none")
    serialized = b.input("serialized", (2,), "STRING")
    if kind == "ParseExampleV2":
        keys = [strings("names"), strings("sparse", b"i"), strings("dense", b"f", b"s")]
        inputs = [serialized, *keys, strings("ragged"), real, words]
        options = {"num_sparse": 1}
    else:
        keys = [strings("names"), strings("i", b"i"), strings("f", b"f"), strings("s", b"s")]
        inputs = [serialized, *keys, real, words]
        options = {"Nsparse": 1, "Ndense": 2}
    kinds = ("INT64", "INT64", "INT64", "FLOAT32", "STRING")
    ys = [
        b.tensor(f"y{i}", y.shape, k) for i, (y, k) in enumerate(zip(expected, kinds, strict=True))
    ]
    b.op("CUSTOM", inputs, ys, custom_code=kind, custom_options=bytes(flexbuffers.Dumps(options)))
    interpreter = Interpreter(model_content=saved(b.outputs(*ys)))
    examples = np.empty(2, object)
    examples[:] = [GOLDENS[f"example:{i}"].tobytes() for i in range(2)]
    answers = run(interpreter, examples)
    for mine, theirs in zip(answers[:4], expected, strict=False):
        assert np.array_equal(mine, theirs)
    assert answers[4].tolist() == [[b"\0ab"], [b"none"]]
    examples[1] = b"\xff"
    with pytest.raises(RuntimeError, match="Could not parse example input"):
        run(interpreter, examples)


@pytest.mark.parametrize(
    ("kind", "dtype", "options", "message"),
    [
        ("Roll", "f4", {}, "takes 3 inputs, got 1"),
        ("AudioSpectrogram", "f4", b"xyz", "the root of a FlexBuffer has 1, 2, 4 or 8 bytes, got"),
        ("AvgPool3D", "f4", {"ksize": [1, 2, 2]}, "must have 5 dimensions"),
        ("AudioSpectrogram", "f4", {"window_size": 1, "stride": 1}, r"in \[2, "),
        ("AudioSpectrogram", "f4", {"window_size": 4.5, "stride": 1}, "must be an integer"),
        (
            "AudioSpectrogram",
            "f4",
            {"window_size": 1e30, "stride": 1},
            "integer of 32 bits, got 1e",
        ),
        ("aeq.hadamard_rotation", "f4", {"hadamard_size": 3}, "power of 2 that divides 4, got 3"),
        ("aeq.hadamard_rotation", "i4", {"hadamard_size": 2}, "int32 is not supported"),
        ("MaxUnpooling2D", "f4", b"1234", "takes 2 inputs, got 1"),
    ],
)
def test_what_is_wrong_is_said(builder, saved, kind, dtype, options, message):
    x = np.zeros((2, 4), dtype)
    content = one_op(builder, saved, kind, [x], [((2, 4), dtype)], options)
    with pytest.raises(RuntimeError, match=message):
        Interpreter(model_content=content).allocate_tensors()


def test_the_documentation_lists_every_operator():
    page = (Path(flatlite.__file__).parent / "docs" / "custom_ops.md").read_text()
    table = page.partition("| from | operators |")[2].partition("\n\n")[0]
    assert {name for name in HOMES if not re.search(rf"\b{name}\b", table)} == set()
    assert all(SHIPPED.get(name) is not None for name in HOMES)


def test_attention_and_its_cache(builder, saved):
    """The composite's attention, and a cache by the rules of LiteRT's kvcache_test."""
    q, k, v, mask = normal(1, 2, 4, 8), normal(1, 5, 2, 8), normal(1, 5, 2, 8), normal(1, 1, 2, 5)
    kind, outs = "odml.scaled_dot_product_attention", [(q.shape, "f4")]
    content = one_op(builder, saved, kind, [q, k, v, mask], outs, {"scale": 0.0})
    wide = [np.repeat(x.astype(float), 2, 2) for x in (k, v)]
    logits = np.einsum("bthd,bshd->bhts", q.astype(float), wide[0]) / np.sqrt(8) + mask
    shares = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    want = np.einsum("bhts,bshd->bthd", shares, wide[1])
    (y,) = run(Interpreter(model_content=content), q, k, v, mask)
    np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-6)

    steps = [np.int64([2 * i, 2 * i + 1]) for i in range(4)]
    updates = [[normal(1, 2, 2, 3), normal(1, 2, 2, 3)] for _ in steps]
    outs = [((1, 6, 2, 3), "f4")] * 2
    inputs = [steps[0], *updates[0]]
    options = {"kv_cache_max": 6, "num_layers": 2, "layer_index": 1}
    content = one_op(builder, saved, "odml.update_kv_cache", inputs, outs, options)
    interpreter = Interpreter(model_content=content)
    for i, (at, pair) in enumerate(zip(steps, updates, strict=True)):
        answers = run(interpreter, at, *pair)
        for j, output in enumerate(answers):
            rows = np.concatenate([u[j] for u in updates[max(i - 2, 0) : i + 1]], 1)
            assert np.array_equal(output[:, : rows.shape[1]], rows)
            assert not output[:, rows.shape[1] :].any()
    with pytest.raises(RuntimeError, match="before this cache's first slot index of 2"):
        run(interpreter, steps[0], *updates[0])
    interpreter.reset_all_variables()
    assert not run(interpreter, steps[0], *updates[0])[0][:, 2:].any()
