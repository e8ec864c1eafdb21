"""Recurrent cells and the nets that apply them."""
