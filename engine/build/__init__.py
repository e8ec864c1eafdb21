"""How kernels are declared, compiled and kept: numba, LLVM, code images."""
