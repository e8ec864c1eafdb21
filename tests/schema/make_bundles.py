"""Writes the checkpoints of tests/schema/bundles with TensorFlow, which wrote the ones there.

Run as `python tests/schema/make_bundles.py` in an environment that has TensorFlow and ml_dtypes.
The expected values are what values() and sliced() give; test_bundle.py imports them, and needs no
TensorFlow.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

HERE = Path(__file__).parent / "bundles"


def values() -> dict[str, np.ndarray]:
    """The tensors of the checkpoint `types`: one of each type, with awkward shapes and bytes."""
    import ml_dtypes

    ramp = np.arange(-3, 3)
    return {
        "bfloat16": np.float32([[1.5, -2], [0.25, 1e30]]).astype(ml_dtypes.bfloat16),
        "bool": np.array([True, False, True]),
        "complex64": np.complex64([1 + 2j, -3.5j]),
        "complex128": np.complex128([[1e300 - 2j]]),
        "empty": np.zeros((0, 3), np.float32),
        "float16": np.float16([1, -2.5, 65504]),
        "float32": np.linspace(-1, 1, 7, dtype=np.float32),
        "float64": np.float64([np.pi, np.inf]),
        "int8": ramp.astype(np.int8).reshape(2, 3),
        "int16": (ramp * 10000).astype(np.int16),
        "int32": np.int32(-(2**31)),
        "int64": np.int64([2**62, -1]),
        "strings": np.array([[b"a", b""], [b"\0\xff" * 3, b"x" * 300]], object),
        "string": np.array("caf\u00e9".encode(), object),
        "uint8": np.uint8([0, 255]),
        "uint16": np.uint16([65535]),
        "uint32": np.uint32([2**32 - 1]),
        "uint64": np.uint64([2**64 - 1]),
        "deep/name.with-all/of:them \u00fc": np.float32(2.5),
    }


def sliced() -> dict[str, np.ndarray]:
    """The tensors of the checkpoint `sliced`, cut over rows, columns, and both, in three shards."""
    return {
        "rows": np.arange(300, dtype=np.float32).reshape(100, 3),
        "columns": np.arange(200, dtype=np.int64).reshape(2, 100),
        "na\0me\xff": np.arange(24, dtype=np.float32).reshape(4, 3, 2),
    }


SLICES = {
    "rows": ["100 3 0,64:-", "100 3 64,36:-"],
    "columns": ["2 100 -:0,5", "2 100 -:5,60", "2 100 -:65,35"],
    "na\0me\xff": ["4 3 2 0,2:0,1:-", "4 3 2 0,2:1,2:-", "4 3 2 2,2:0,3:-"],
}


def main():
    import tensorflow as tf

    HERE.mkdir(exist_ok=True)
    named = values()
    strings = {key: np.asarray(value) for key, value in named.items()}
    tf.raw_ops.SaveV2(
        prefix=str(HERE / "types"),
        tensor_names=list(named),
        shape_and_slices=[""] * len(named),
        tensors=[tf.constant(value) for value in strings.values()],
    )
    shards = [[], [], []]
    for key, specs in SLICES.items():
        for i, spec in enumerate(specs):
            shards[i % 3].append((key, spec))
    prefixes = []
    for i, parts in enumerate(shards):
        prefixes.append(str(HERE / f"part{i}"))
        tf.raw_ops.SaveV2(
            prefix=prefixes[-1],
            tensor_names=[key.encode("latin-1") for key, _ in parts],
            shape_and_slices=[spec for _, spec in parts],
            tensors=[tf.constant(sliced()[key][cut(spec)]) for key, spec in parts],
        )
    tf.raw_ops.MergeV2Checkpoints(
        checkpoint_prefixes=prefixes, destination_prefix=str(HERE / "sliced")
    )


def cut(spec: str) -> tuple[slice, ...]:
    """The indices a slice specification such as "100 3 64,36:-" stands for."""
    indices = []
    for extent in spec.split(" ")[-1].split(":"):
        start, size = (0, None) if extent == "-" else map(int, extent.split(","))
        indices.append(slice(start, None if size is None else start + size))
    return tuple(indices)


if __name__ == "__main__":
    main()
