"""How a model is divided among delegates."""
