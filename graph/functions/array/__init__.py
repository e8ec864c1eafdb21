"""Tensors made, moved, selected and changed in dtype."""
