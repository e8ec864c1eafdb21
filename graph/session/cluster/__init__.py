"""Runs over the tasks of a cluster, each in a process of its own."""
