"""Variables, their scopes and what initialises them."""
