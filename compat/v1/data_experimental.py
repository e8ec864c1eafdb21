"""The names of `tf.data.experimental`."""

from ...facade import facade

HOMES = {
    "graph.core.composite.type_specs": (
        "SparseTensorStructure=SparseTensorSpec TensorStructure=TensorSpec"
    ),
    "training.data.base": "AUTOTUNE INFINITE_CARDINALITY UNKNOWN_CARDINALITY",
    "training.data.csv": "CsvDataset make_batched_features_dataset make_csv_dataset",
    "training.data.experimental": (
        "Counter RandomDataset Reducer assert_cardinality bucket_by_sequence_length cardinality "
        "choose_from_datasets copy_to_device dense_to_ragged_batch dense_to_sparse_batch "
        "enumerate_dataset from_list pad_to_cardinality "
        "from_variant get_single_element get_structure group_by_reducer group_by_window "
        "ignore_errors map_and_batch map_and_batch_with_legacy_function parallel_interleave "
        "parse_example_dataset prefetch_to_device sample_from_datasets scan shuffle_and_repeat "
        "rejection_resample snapshot take_while to_variant unbatch unique"
    ),
    "training.data.iterators": "Optional get_next_as_optional",
    "training.data.options": (
        "AutotuneOptions DistributeOptions OptimizationOptions ThreadingOptions"
    ),
    "training.data.tables": "DatasetInitializer index_table_from_dataset table_from_dataset",
    "training.data.structures": "DatasetStructure=DatasetSpec",
    "training.tf_record": "TFRecordWriter",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
