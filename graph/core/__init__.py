"""Graph, Operation, Tensor, and what is known of types, shapes and signatures."""
