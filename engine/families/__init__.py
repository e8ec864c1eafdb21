"""Operations with several kernels: what packs weights, finds scratch room and names the kernel."""
