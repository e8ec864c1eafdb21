"""What Keras writes, or has in memory, as an architecture and weights."""
