"""Names of LiteRT 2: CompiledModel and TensorBuffer."""
