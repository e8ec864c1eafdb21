"""What the lowerings of every source share: nodes, moves, formulas, and what is refused."""
