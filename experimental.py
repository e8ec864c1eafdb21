"""The names of `tf.lite.experimental`, as `flatlite.lite.experimental`."""

from .facade import facade

HOMES = {
    "converter.api.toco": "get_potentially_supported_ops",
    "converter.ophint.stubs": "convert_op_hints_to_stubs",
    "converter.quantize.accuracy.budget": "AccuracyBudget",
    "converter.quantize.debugger": "QuantizationDebugOptions QuantizationDebugger",
    "delegates.load": "load_delegate",
    "interpreter.arguments": "OpResolverType",
    "tools.analyzer": "Analyzer=ModelAnalyzer",
}
MODULES = {"authoring": "converter.api.authoring", "nn": "compat.v1.lite_experimental_nn"}
__all__, __getattr__, __dir__ = facade("flatlite.lite.experimental", HOMES, modules=MODULES)
