"""What people call: TFLiteConverter, its settings and one run of `convert`."""
