"""Writes tests/converter/keras/layers with Keras 3 and tf_keras: small models, a few layers each.

Run as `python tests/converter/keras/make_layers.py [FAMILY ...]` in an environment that has both,
and scipy.
The models are those of cases, a module for each family.
A family's file, whose models have much in common and are therefore packed together, has for each
case "<case>/keras" and "<case>/h5", the files as bytes, and "<case>/in<i>" and "<case>/out<i>".
"""

from __future__ import annotations

import importlib
import io
import lzma
import sys
import tempfile
import zipfile
from pathlib import Path

import keras
import numpy as np
import tf_keras
from cases.registry import FAMILIES

HERE = Path(__file__).parent / "layers"
MODULES = (
    *("recurrent", "attention", "audio", "convolution", "norm", "preprocess", "functions"),
    *(
        "images",
        "files",
        "operations",
        "windows",
        "sequences",
        "arguments",
        "formats",
        "general",
        "shared",
        "integers",
        "masks",
        "axes",
        "triangles",
    ),
)


def coarse(values: np.ndarray) -> np.ndarray:
    """Numbers that take little room when they are packed."""
    return (np.round(values * 64) / 64).astype(np.float32)


def randomly(model, rng: np.random.Generator) -> None:
    """Gives a model's layers weights."""
    for weight in model.weights:
        is_learned = not weight.name.endswith(("_scale", "g_idx"))
        is_learned &= "count" not in weight.name and "summary" not in weight.name
        if "float" not in str(weight.dtype) or not is_learned:
            continue
        value = coarse(rng.normal(0, 0.4, weight.shape))
        weight.assign(np.abs(value) + 0.5 if "variance" in weight.name else value)
    for layer in model.layers:
        if type(layer).__name__ == "Normalization":
            layer.finalize_state()


def inputs_of(model, rng: np.random.Generator) -> list[np.ndarray]:
    """Random inputs; a few numbers are 0.5 and some integers 0, to be masked."""
    inputs = []
    for x in model.inputs:
        shape = [
            (2 if len(x.shape) < 4 else 1) if i == 0 else n or 5 for i, n in enumerate(x.shape)
        ]
        name = x.dtype if isinstance(x.dtype, str) else x.dtype.name
        if "bool" in name:
            inputs.append(rng.integers(0, 2, shape).astype(bool))
            inputs[-1][..., 0] = True
        elif "int" in name:
            inputs.append(rng.integers(0, 7, shape).astype(name))
            inputs[-1][0, -1], inputs[-1][0, 1 % shape[1]] = 0, 0
        else:
            inputs.append(coarse(rng.normal(size=shape)).astype(name))
            inputs[-1][0, -1] = 0.5
    return inputs


def flat(outputs) -> list:
    """What nested lists and dicts hold."""
    if isinstance(outputs, dict):
        outputs = [outputs[key] for key in sorted(outputs)]
    if not isinstance(outputs, list | tuple):
        return [outputs]
    return [y for item in outputs for y in flat(item)]


def recorded(model, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The files of a model and what it gives."""
    randomly(model, rng)
    inputs = inputs_of(model, rng)
    outputs = model(inputs if len(inputs) > 1 else inputs[0], training=False)
    outputs = flat(outputs)
    arrays = {f"in{i}": x for i, x in enumerate(inputs)}
    arrays |= {f"out{i}": np.asarray(y) for i, y in enumerate(outputs)}
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("keras", "h5"):
            path = Path(folder) / f"m.{suffix}"
            try:
                model.save(path)
            except (TypeError, ValueError, NotImplementedError) as error:
                print(f"  not written as {suffix}: {str(error)[:90]}")
                continue
            arrays[suffix] = np.frombuffer(unpacked(path.read_bytes()), np.uint8)
    return arrays


def unpacked(content: bytes) -> bytes:
    """A file as it is stored; the members of an archive are packed by the .npz it lies in."""
    if not content.startswith(b"PK"):
        return content
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(result, "w") as new:
        for name in ("metadata.json", "config.json", "model.weights.h5"):
            new.writestr(name, old.read(name))
    return result.getvalue()


def main(names: list[str]) -> None:
    HERE.mkdir(exist_ok=True)
    for module in MODULES:
        importlib.import_module(f"cases.{module}")
    for family, cases in FAMILIES.items():
        if names and family not in names:
            continue
        for version, k in ((3, keras), (2, tf_keras)):
            arrays = {}
            for name, (versions, make) in cases.items():
                if version in versions:
                    print(family, version, name)
                    k.backend.clear_session()
                    arrays_of_case = recorded(make(k), np.random.default_rng(0))
                    arrays |= {f"{name}/{key}": value for key, value in arrays_of_case.items()}
            if not arrays:
                continue  # layers of the other Keras
            packed = io.BytesIO()
            np.savez(packed, **arrays)
            name = HERE / f"{family}_keras{version}.npz.xz"
            name.write_bytes(lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME))


if __name__ == "__main__":
    main(sys.argv[1:])
