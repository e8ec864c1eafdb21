"""Tables, queues and accumulators: state that is no variable."""
