"""ONNX operators to the IR, family by family; channels come last inside."""
