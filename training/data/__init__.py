"""Input pipelines: `tf.data`."""
