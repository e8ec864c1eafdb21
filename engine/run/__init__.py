"""What executes a closed program: the plan runner, its threads, faults, loaded code."""
