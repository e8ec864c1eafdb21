"""Rows of TensorFlow's ops by family; see registry.py for what a row is."""

FAMILIES = (
    "activation",
    "apply",
    "array",
    "concat",
    "control",
    "conv",
    "detection",
    "elementwise",
    "files",
    "gather",
    "image",
    "matmul",
    "matrix",
    "norm",
    "pool",
    "quantize",
    "reduce",
    "slice",
    "source",
    "space",
    "state",
    "string",
    "tables",
    "tensorlist",
)
"""The modules that hold rows; the registry imports them all when it is first asked."""
