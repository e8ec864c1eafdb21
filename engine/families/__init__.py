"""Operations with several kernels: packing of weights, scratch buffers, choice of the kernel."""
