"""flatlite: TensorFlow Lite without TensorFlow.

`flatlite.lite` has the converter and the interpreter, `flatlite.compat.v1` the names of TF1,
`flatlite.train` optimizers and checkpoints, `flatlite.edit` edits of `.tflite` models,
`flatlite.metadata` what they say of themselves, `flatlite.micro` sources for microcontrollers,
`flatlite.errors` the exceptions, and `flatlite.int8` and its like the element types. Everything is
imported on first use.
"""

from .facade import facade

__version__ = "0.1.0"

HOMES = {
    "graph.core.dtype": (
        "DType as_dtype bfloat16 bool complex128 complex64 double float16 float32 float64 half "
        "int16 int32 int64 int8 string uint16 uint32 uint64 uint8"
    ),
}
MODULES = {
    name: name
    for name in ("compat", "edit", "errors", "lite", "litert", "metadata", "micro", "train")
}
_names, __getattr__, __dir__ = facade(__name__, HOMES, modules=MODULES)
__all__ = sorted([*_names, "__version__"])
