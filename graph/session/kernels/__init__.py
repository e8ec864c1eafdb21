"""Steps of a session that are not computed by the engine: state, files, queues, randomness."""
