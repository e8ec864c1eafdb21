"""Every layer of Keras 2 and 3 and every operation of keras.ops is written, or has a reason."""

import json
from pathlib import Path

import pytest

from flatlite.converter.keras.registry import LAYERS

NAMES = json.loads(Path(__file__).with_name("names.json").read_text())
REASONS = {
    "keras": {
        "a base class": "Layer Wrapper",
        "an input": "InputLayer",
        "Python code, or another framework's": (
            "FlaxLayer JaxLayer Lambda TFSMLayer TorchModuleWrapper"
        ),
        "hashes of strings, which builtins lack": "HashedCrossing",
    },
    "tf_keras": {
        "a base class": "AbstractRNNCell Layer Wrapper",
        "an input": "InputLayer",
        "Python code": "Lambda",
        "feature columns, whose configuration Keras does not write": "DenseFeatures",
        "hashes of strings, which builtins lack": "HashedCrossing",
    },
    "ops": {
        "a base class": "Function Operation SegmentReduction",
        "calls Python functions, which a configuration cannot hold": (
            "AssociativeScan Cond ForiLoop JVP Map Scan Switch VectorizedMap WhileLoop"
        ),
        "has no tensor among its arguments": "Arange",
        "a loss of training": "CTCLoss",
        "random": "ElasticTransform",
        "decompositions that iterate until something is small": (
            "Eig Lstsq LuFactor MatrixRank Pinv"
        ),
        "gives other orders on each backend": "Argpartition",
        "bins whose limits are computed": "Histogram",
    },
}


@pytest.mark.parametrize("kind", NAMES)
def test_nothing_is_missing_without_a_reason(kind):
    prefix = "ops." if kind == "ops" else ""
    listed = {name for names in REASONS[kind].values() for name in names.split()}
    assert {name for name in NAMES[kind] if LAYERS.get(prefix + name) is None} == listed
