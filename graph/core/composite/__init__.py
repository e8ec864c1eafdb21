"""Values of several tensors: sparse, ragged and indexed ones, and their specs."""
