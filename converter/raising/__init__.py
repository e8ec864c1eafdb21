"""From the IR to a graph of TensorFlow's operations: what the lowerings do, the other way round."""
