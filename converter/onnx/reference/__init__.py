"""ONNX nodes computed as ONNX defines them, which verification compares with."""
