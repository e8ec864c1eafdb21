"""ai.onnx.ml: what scikit-learn's models are exported as."""
