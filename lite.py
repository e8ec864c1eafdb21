"""The names of `tf.lite`: converter, interpreter and what they are told."""

from .facade import facade

HOMES = {
    "converter.api.converter": "TFLiteConverter",
    "converter.ophint.ophint": "OpHint",
    "converter.api.raised": "RaisedModel to_graph",
    "converter.api.options": "OpsSet Optimize RepresentativeDataset TargetSpec constants",
    "delegates.delegate": "Delegate",
    "delegates.load": "load_delegate",
    "interpreter.interpreter": "Interpreter",
    "engine.run.limits": "Limits",
    "interpreter.arguments": "OpResolverType",
    "interpreter.signature": "SignatureRunner",
    "schema.custom_ops": "custom_op kernel",
    "interpreter.delegation.with_custom_ops": "InterpreterWithCustomOps",
}
MODULES = {"experimental": "experimental"}
__all__, __getattr__, __dir__ = facade(__name__, HOMES, modules=MODULES)
