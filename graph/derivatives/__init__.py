"""The derivatives of TensorFlow's ops by family; see registry.py for what a row is.

They lie beside ops/ rather than in it: a program that does not train never loads them.
"""

FAMILIES = (
    "activation",
    "array",
    "concat",
    "control",
    "conv",
    "decompose",
    "einsum",
    "elementwise",
    "gather",
    "image",
    "lists",
    "loop",
    "matmul",
    "matrix",
    "nn",
    "pool",
    "python",
    "quantize",
    "reduce",
    "slice",
    "source",
    "space",
    "sparse",
    "special",
    "spectral",
)
"""The modules that hold rows; the registry imports them all when it is first asked."""
