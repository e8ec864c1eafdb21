"""TensorFlow's files: SavedModels, checkpoints, records and paths."""
