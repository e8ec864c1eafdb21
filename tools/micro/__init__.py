"""Models for microcontrollers: C sources for TensorFlow Lite Micro, and the memory they need."""
