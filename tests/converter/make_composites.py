"""Records a SavedModel whose functions say what they implement, and what TensorFlow makes of them.

    python tests/converter/make_composites.py        (with TensorFlow 2.21)

composites.npz.xz has, for each case of CASES: "<case>/model", the saved_model.pb; "<case>/ops", the
operators of TensorFlow's file, where it converts; "<case>/options", the options of a custom
operator, as JSON; "<case>/in<i>", and "<case>/out<i>", what its interpreter gives, where it has the
operator, or TensorFlow.
"""

import io
import json
import lzma
import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf
from flatbuffers import flexbuffers
from tensorflow.lite.tools import flatbuffer_utils

GENERATOR = np.random.default_rng(8)
DETECTION = {
    "max_detections": 6,
    "max_classes_per_detection": 1,
    "num_classes": 3,
    "nms_score_threshold": 0.1,
    "nms_iou_threshold": 0.6,
    "y_scale": 10.0,
    "x_scale": 10.0,
    "h_scale": 5.0,
    "w_scale": 5.0,
    "use_regular_nms": False,
}


def implements(name, attrs):
    """A NameAttrList in text, as object detection's exporter writes it."""
    fields = {bool: "b", int: "i", float: "f"}
    texts = (
        f'attr {{ key: "{k}" value {{ {fields[type(v)]}: {str(v).lower()} }} }}'
        for k, v in attrs.items()
    )
    return " ".join([f'name: "{name}"', *texts])


@tf.function(experimental_implements=implements("TFLite_Detection_PostProcess", DETECTION))
def post_process(boxes, scores, anchors):
    return [tf.constant(0.0, name=name) for name in ("boxes", "scores", "classes", "count")]


@tf.function(
    experimental_implements=implements("my_gate", {"tfl_fusable_op": True, "slope": 0.5, "n": 3})
)
def gate(x):
    return tf.where(x > 0, x, x * 0.5)


def detector(boxes, scores, anchors):
    return post_process(boxes, scores, anchors)


def suppression(boxes, scores):
    return tf.image.non_max_suppression_padded(
        boxes, scores, 5, 0.5, 0.2, pad_to_max_output_size=True
    )


def gated(x):
    return tf.tanh(gate(x)) + 1.0


@tf.function
def step(x):
    return tf.tanh(x) * 1.25


def looped(x):
    """Calls within a loop and a branch."""
    y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, step(y)), (0, x))[1]
    return tf.cond(x[0, 0] > 0, lambda: step(y), lambda: step(y) - 1.0)


def coloured(x):
    return tf.image.adjust_hue(x, 0.3), tf.image.adjust_saturation(x, 1.5)


def resized(x):
    return tf.image.resize(x, (3, 7), antialias=True), tf.image.resize(x, (5, 3), "area")


def corners(n):
    low = GENERATOR.uniform(0, 0.7, (n, 2))
    return np.concatenate([low, low + GENERATOR.uniform(0.1, 0.3, (n, 2))], 1).astype(np.float32)


CASES = {
    detector: [
        GENERATOR.normal(size=(1, 8, 4)).astype(np.float32),
        GENERATOR.random((1, 8, 4)).astype(np.float32),
        corners(8),
    ],
    suppression: [np.repeat(corners(5), 2, 0), GENERATOR.random(10).astype(np.float32)],
    gated: [GENERATOR.normal(size=(2, 3)).astype(np.float32)],
    looped: [GENERATOR.normal(size=(2, 3)).astype(np.float32)],
    coloured: [GENERATOR.random((1, 4, 4, 3)).astype(np.float32)],
    resized: [GENERATOR.random((1, 6, 5, 2)).astype(np.float32)],
}
REFUSED = (coloured, resized)
"""What TensorFlow's converter has no builtins for."""


def answers(content, inputs):
    interpreter = tf.lite.Interpreter(model_content=content)
    run = interpreter.get_signature_runner()
    results = run(**{f"x{i}": x for i, x in enumerate(inputs)})
    return [results[key] for key in sorted(results)]


def arrays_of(function, inputs, model, results):
    """The arrays of a case but those of TensorFlow's file."""
    arrays = {f"in{i}": x for i, x in enumerate(inputs)}
    arrays |= {f"out{i}": y for i, y in enumerate(results)}
    arrays["model"] = np.frombuffer(model, np.uint8)
    return {f"{function.__name__}/{key}": value for key, value in arrays.items()}


def record(function, inputs):
    """The arrays of a case."""
    specs = [tf.TensorSpec(x.shape, tf.float32, name=f"x{i}") for i, x in enumerate(inputs)]

    @tf.function(input_signature=specs)
    def signature(*tensors):
        return {f"y{i}": y for i, y in enumerate(tf.nest.flatten(function(*tensors)))}

    module = tf.Module()
    module.signature = signature
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder, signatures=signature)
        model = (Path(folder) / "saved_model.pb").read_bytes()
        if function in REFUSED:
            results = [y.numpy() for y in function(*map(tf.constant, inputs))]
            return arrays_of(function, inputs, model, results)
        content = tf.lite.TFLiteConverter.from_saved_model(folder).convert()
    results = () if function is gated else answers(content, inputs)
    arrays = arrays_of(function, inputs, model, results)
    file = flatbuffer_utils.convert_bytearray_to_object(bytearray(content))
    operators = file.subgraphs[0].operators
    arrays[f"{function.__name__}/ops"] = np.array(
        [flatbuffer_utils.opcode_to_name(file, op.opcodeIndex) for op in operators]
    )
    for operator in operators:
        if operator.customOptions is not None:
            options = flexbuffers.Loads(bytes(operator.customOptions))
            arrays[f"{function.__name__}/options"] = np.array(json.dumps(options))
    return arrays


packed = io.BytesIO()
np.savez(packed, **{k: v for f, xs in CASES.items() for k, v in record(f, xs).items()})
path = Path(__file__).with_name("composites.npz.xz")
path.write_bytes(lzma.compress(packed.getvalue(), preset=9))
