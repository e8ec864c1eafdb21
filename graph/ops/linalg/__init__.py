"""Rows of products, decompositions and solvers of matrices."""
