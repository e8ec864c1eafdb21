"""Kernels that only move elements."""
