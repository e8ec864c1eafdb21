"""The IR: TFLite operators whose edges are references, its builder, sizes and writer."""
