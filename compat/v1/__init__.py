"""The names of TensorFlow 1: `import flatlite.compat.v1 as tf`.

Everything is imported on first use. What a name does is said where it lives:
`help(tf.get_variable)`.
"""

from ...facade import facade
from .absent import ROOT
from .homes import CHECKS, CORE, DUNDER_VERSIONS, MATH, VERSIONS

MODULES = {
    "app": "compat.v1.app",
    "audio": "compat.v1.audio",
    "bitwise": "compat.v1.bitwise",
    "compat": "compat.v1.compat",
    "config": "compat.v1.config",
    "data": "compat.v1.data",
    "debugging": "compat.v1.debugging",
    "distribute": "compat.v1.distribute",
    "distributions": "compat.v1.distributions",
    "dtypes": "compat.v1.dtypes",
    "errors": "errors",
    "feature_column": "compat.v1.feature_column",
    "flags": "compat.v1.flags",
    "gfile": "compat.v1.gfile",
    "graph_util": "compat.v1.graph_util",
    "image": "compat.v1.image",
    "initializers": "compat.v1.initializers",
    "io": "compat.v1.io",
    "layers": "compat.v1.layers",
    "linalg": "compat.v1.linalg",
    "lite": "compat.v1.lite",
    "logging": "compat.v1.logging",
    "lookup": "compat.v1.lookup",
    "losses": "compat.v1.losses",
    "manip": "compat.v1.manip",
    "math": "compat.v1.math",
    "metrics": "compat.v1.metrics",
    "mixed_precision": "compat.v1.mixed_precision",
    "nest": "compat.v1.nest",
    "nn": "compat.v1.nn",
    "python_io": "compat.v1.python_io",
    "quantization": "compat.v1.quantization",
    "queue": "compat.v1.queue",
    "ragged": "compat.v1.ragged",
    "random": "compat.v1.random",
    "raw_ops": "compat.v1.raw_ops",
    "resource_loader": "compat.v1.resource_loader",
    "saved_model": "compat.v1.saved_model",
    "sets": "compat.v1.sets",
    "signal": "compat.v1.signal",
    "sparse": "compat.v1.sparse",
    "spectral": "compat.v1.spectral",
    "strings": "compat.v1.strings",
    "summary": "compat.v1.summary",
    "test": "compat.v1.test",
    "tpu": "compat.v1.tpu",
    "train": "train",
    "types": "compat.v1.types",
    "user_ops": "compat.v1.user_ops",
    "version": "compat.v1.version",
}
__all__, __getattr__, __dir__ = facade(
    __name__, CHECKS, CORE, MATH, VERSIONS, DUNDER_VERSIONS, modules=MODULES, absent=ROOT
)
