"""Sessions: plans of native programs and host steps, and what they keep between runs."""
