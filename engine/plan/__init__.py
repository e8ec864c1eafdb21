"""Programs: instructions, their memory, and what is fused, shared or left out."""
