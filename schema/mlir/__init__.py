"""MLIR bytecode with modules of the VHLO dialect: StableHLO as it is written to files."""
