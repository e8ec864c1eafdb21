"""The names of `tf.layers`."""

from ...facade import facade

HOMES = {
    "graph.layers.base": "InputSpec Layer",
    "graph.layers.convolutional": (
        "Conv1D Conv2D Conv2DTranspose Conv3D Conv3DTranspose SeparableConv1D SeparableConv2D "
        "conv1d conv2d conv2d_transpose conv3d conv3d_transpose separable_conv1d separable_conv2d"
    ),
    "graph.layers.core": "Dense Dropout Flatten dense dropout flatten",
    "graph.layers.normalization": "BatchNormalization batch_normalization",
    "graph.layers.pooling": (
        "AveragePooling1D AveragePooling2D AveragePooling3D MaxPooling1D MaxPooling2D MaxPooling3D "
        "average_pooling1d average_pooling2d average_pooling3d max_pooling1d max_pooling2d "
        "max_pooling3d"
    ),
}

__all__, __getattr__, __dir__ = facade(__name__, HOMES)
