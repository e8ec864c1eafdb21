"""com.microsoft: operators of ONNX Runtime."""
