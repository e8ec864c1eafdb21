"""Edits of models: each takes a schema.model.Model and gives another, the first stays as it is."""
