"""Rows of variables, tables, queues, tensor lists and optimizers."""
