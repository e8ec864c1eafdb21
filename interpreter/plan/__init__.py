"""From a model's operators to a plan: stages, allocation, inlining, cache."""
