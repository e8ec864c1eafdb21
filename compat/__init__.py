"""TF1 names for flatlite."""
