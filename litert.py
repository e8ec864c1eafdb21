"""The names of LiteRT 2 (`ai_edge_litert`): `CompiledModel`, its buffers, the interpreter."""

from .facade import facade

HOMES = {
    "delegates.delegate": "Delegate",
    "delegates.load": "load_delegate",
    "interpreter.compiled_model": "CompiledModel",
    "interpreter.compiled_options": (
        "CpuKernelMode CpuOptions Environment EnvironmentOptions GpuOptions HardwareAccelerator "
        "IntelOpenVinoOptions Options QualcommOptions"
    ),
    "interpreter.interpreter": "Interpreter",
    "interpreter.options": "OpResolverType",
    "interpreter.signature": "SignatureRunner",
    "interpreter.tensor_buffer": "TensorBuffer",
    "interpreter.with_custom_ops": "InterpreterWithCustomOps",
    "tools.analyzer": "ModelAnalyzer",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
