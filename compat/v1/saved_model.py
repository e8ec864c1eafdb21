"""The names of `tf.saved_model`."""

from ...facade import facade

HOMES = {
    "training.export.saved_model_builder": "Builder main_op_with_restore simple_save",
    "training.export.saved_model_constants": (
        "ASSETS_DIRECTORY ASSETS_KEY CLASSIFY_INPUTS CLASSIFY_METHOD_NAME CLASSIFY_OUTPUT_CLASSES "
        "CLASSIFY_OUTPUT_SCORES DEBUG_DIRECTORY DEBUG_INFO_FILENAME_PB "
        "DEFAULT_SERVING_SIGNATURE_DEF_KEY GPU LEGACY_INIT_OP_KEY MAIN_OP_KEY PREDICT_INPUTS "
        "PREDICT_METHOD_NAME PREDICT_OUTPUTS REGRESS_INPUTS REGRESS_METHOD_NAME REGRESS_OUTPUTS "
        "SAVED_MODEL_FILENAME_PB SAVED_MODEL_FILENAME_PBTXT SAVED_MODEL_SCHEMA_VERSION SERVING "
        "TPU TRAINING VARIABLES_DIRECTORY VARIABLES_FILENAME"
    ),
    "training.export.saved_model_loader": (
        "contains_saved_model=maybe_saved_model_directory load maybe_saved_model_directory"
    ),
    "training.export.signature_defs": (
        "build_signature_def build_tensor_info classification_signature_def "
        "get_tensor_from_tensor_info is_valid_signature predict_signature_def "
        "regression_signature_def"
    ),
}
MODULES = {
    "builder": "training.export.saved_model_builder",
    "constants": "training.export.saved_model_constants",
    "loader": "training.export.saved_model_loader",
    "main_op": "training.export.saved_model_builder",
    "signature_constants": "training.export.saved_model_constants",
    "signature_def_utils": "training.export.signature_defs",
    "tag_constants": "training.export.saved_model_constants",
    "utils": "training.export.signature_defs",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES, modules=MODULES)
