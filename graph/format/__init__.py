"""Graphs as messages and what is done to them there: imported, inlined, pruned, folded."""
