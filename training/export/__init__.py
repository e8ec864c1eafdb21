"""Meta graphs and SavedModels, written and read."""
