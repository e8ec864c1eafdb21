"""The names of `tf.data`."""

from ...facade import facade

HOMES = {
    "training.data.base": "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY",
    "training.data.dataset": "Dataset",
    "training.data.iterators": (
        "Iterator get_output_classes get_output_shapes get_output_types "
        "make_initializable_iterator make_one_shot_iterator"
    ),
    "training.data.options": "Options ThreadingOptions",
    "training.data.readers": "FixedLengthRecordDataset TFRecordDataset TextLineDataset",
    "training.data.structures": "DatasetSpec",
}
__all__, __getattr__, __dir__ = facade(
    __name__, HOMES, modules={"experimental": "compat.v1.data_experimental"}
)
