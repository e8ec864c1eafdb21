"""Writes signal_goldens.npz: what TensorFlow Lite Micro's own tests of its signal library expect.

Frames of each operator, its example that makes features of speech, and two clips with theirs.

    python tests/interpreter/make_signal_goldens.py TFLITE_MICRO

TFLITE_MICRO is a checkout of github.com/tensorflow/tflite-micro. Needs numpy alone.
"""

import re
import sys
import wave
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
EXAMPLE = "tensorflow/lite/micro/examples/micro_speech"
FOLDER = "python/tflite_micro/signal/ops/testdata"
FILES = {  # name -> (lines before the first frame, lines of a frame, frames)
    "energy": (1, 2, 2),
    "fft_auto_scale": (0, 3, 4),
    "filter_bank_spectral_subtraction": (1, 3, 10),
    "filter_bank_square_root": (0, 3, 10),
    "framer": (1, 3, 8),
    "pcan_op": (1, 3, 10),
    "rfft": (1, 2, 3),
    "stacker": (1, 3, 10),
    "window": (1, 2, 3),
}


def numbers(line):
    """The numbers of a line, as wide as they have to be."""
    values = [int(word) for word in line.split()]
    kinds = (np.int16, np.int32, np.uint32, np.uint64)
    return np.array(values, next(k for k in kinds if np.iinfo(k).max >= max(values)))


def main(checkout):
    arrays = {}
    for name, (start, lines, frames) in FILES.items():
        text = (Path(checkout) / FOLDER / f"{name}_test1.txt").read_text().splitlines()
        arrays[f"{name}:head"] = np.array(text[0] if start else "")
        for i in range(frames):
            for j in range(lines):
                arrays[f"{name}:{i}:{j}"] = numbers(text[start + i * lines + j])
    example = Path(checkout) / EXAMPLE
    arrays["model"] = np.frombuffer(
        (example / "models/audio_preprocessor_int8.tflite").read_bytes(), np.uint8
    )
    test = (example / "micro_speech_test.cc").read_text()
    for word in ("No", "Yes"):
        with wave.open(str(example / f"testdata/{word.lower()}_30ms.wav")) as clip:
            samples = clip.readframes(clip.getnframes())
        arrays[f"clip:{word}"] = np.frombuffer(samples, np.int16)
        features = re.search(rf"{word}FeatureTest.*?kFeatureSize\] = {{(.*?)}}", test, re.DOTALL)
        arrays[f"features:{word}"] = np.array(re.findall(r"\d+", features[1]), np.int8)
    np.savez_compressed(HERE / "signal_goldens.npz", **arrays)


if __name__ == "__main__":
    main(*sys.argv[1:])
