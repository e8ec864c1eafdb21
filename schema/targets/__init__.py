"""What the runtimes of a target run: versions, types and ranks of operators."""
