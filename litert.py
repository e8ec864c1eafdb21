"""The names of LiteRT 2 (`ai_edge_litert`): `CompiledModel`, its buffers, the interpreter."""

from .facade import facade

HOMES = {
    "delegates.delegate": "Delegate",
    "delegates.load": "load_delegate",
    "interpreter.litert.compiled_model": "CompiledModel",
    "interpreter.litert.compiled_options": (
        "CpuKernelMode CpuOptions Environment EnvironmentOptions GpuOptions HardwareAccelerator "
        "IntelOpenVinoOptions Options QualcommOptions"
    ),
    "interpreter.interpreter": "Interpreter",
    "interpreter.arguments": "OpResolverType",
    "interpreter.signature": "SignatureRunner",
    "interpreter.litert.tensor_buffer": "TensorBuffer",
    "interpreter.delegation.with_custom_ops": "InterpreterWithCustomOps",
    "tools.analyzer": "ModelAnalyzer",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
