"""Functions of files, records and messages: `tf.io`."""
