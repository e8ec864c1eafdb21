"""Functions of images: `tf.image`."""
