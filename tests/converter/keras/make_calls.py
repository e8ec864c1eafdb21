"""Writes tests/converter/keras/calls with Keras 3 and tf_keras: models with states, and of words.

Run as `python tests/converter/keras/make_calls.py` in an environment that has both and TensorFlow.
A family's file has for each case "<case>/keras" and "<case>/h5", the files as bytes, and for each
call, one after the other, "<case>/<call>/in<i>" and "<case>/<call>/out<i>".
"""

from __future__ import annotations

import importlib
import io
import lzma
import tempfile
import zipfile
from pathlib import Path

import keras
import numpy as np
import tensorflow as tf
import tf_keras
from cases.registry import FAMILIES
from make_layers import coarse, flat, randomly

HERE = Path(__file__).parent / "calls"
N_CALLS = 3
WORDS = ["a", "b", "ö", "zz", "[UNK]", "", "Hello", "hello,", "a b", " b  a, zz! ", "ö-a"]


def inputs_of(model, rng: np.random.Generator) -> list[np.ndarray]:
    """Random inputs for the batch that the model has, or two."""
    inputs = []
    for x in model.inputs:
        shape = [2 if n is None else n for n in x.shape]
        name = x.dtype if isinstance(x.dtype, str) else x.dtype.name
        if name == "string":
            words = [word.encode() for word in rng.choice(WORDS, np.prod(shape))]
            inputs.append(np.array(words, "S").reshape(shape))
        elif "int" in name:
            inputs.append(rng.integers(0, 7, shape).astype(name))
        else:
            inputs.append(coarse(rng.normal(size=shape)).astype(name))
    return inputs


def as_array(y) -> np.ndarray:
    """A result as an array without objects."""
    array = y.numpy() if isinstance(y, tf.Tensor) else np.asarray(y)
    return array.astype("S") if array.dtype == object else array


def unpacked(content: bytes) -> bytes:
    """A file as it is stored; the members of an archive are packed by the .npz it lies in."""
    if not content.startswith(b"PK"):
        return content
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(result, "w") as new:
        for name in old.namelist():
            new.writestr(name, old.read(name))
    return result.getvalue()


def recorded(model, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The files of a model, and what it gives in calls one after the other."""
    if all(hasattr(weight, "dtype") for weight in model.weights):  # tf_keras has tables among them
        randomly(model, rng)
    arrays = {}
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("keras", "h5"):
            path = Path(folder) / f"m.{suffix}"
            try:
                model.save(path)
            except (TypeError, ValueError, NotImplementedError) as error:
                print(f"  not written as {suffix}: {str(error)[:90]}")
                continue
            arrays[suffix] = np.frombuffer(unpacked(path.read_bytes()), np.uint8)
    for call in range(N_CALLS):
        inputs = inputs_of(model, rng)
        tensors = [tf.constant(x.astype(object) if x.dtype.kind == "S" else x) for x in inputs]
        outputs = flat(model(tensors if len(tensors) > 1 else tensors[0], training=False))
        arrays |= {f"{call}/in{i}": x for i, x in enumerate(inputs)}
        arrays |= {f"{call}/out{i}": as_array(y) for i, y in enumerate(outputs)}
    return arrays


def main() -> None:
    HERE.mkdir(exist_ok=True)
    FAMILIES.clear()
    for module in ("stateful", "strings"):
        importlib.import_module(f"cases.{module}")
    for family, cases in FAMILIES.items():
        for version, k in ((2, tf_keras), (3, keras)):
            rng = np.random.default_rng(0)
            arrays = {}
            for name, (versions, make) in cases.items():
                if version in versions:
                    print(family, version, name)
                    k.backend.clear_session()
                    actual = recorded(make(k), rng)
                    arrays |= {f"{name}/{key}": array for key, array in actual.items()}
            stream = io.BytesIO()
            np.savez(stream, **arrays)
            path = HERE / f"{family}_keras{version}.npz.xz"
            path.write_bytes(lzma.compress(stream.getvalue(), preset=9))


if __name__ == "__main__":
    main()
