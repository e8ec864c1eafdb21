"""The wire: TFLite flatbuffers, TensorFlow's protocol messages, checkpoints and records."""
