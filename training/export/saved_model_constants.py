"""The names that SavedModels use for files, collections, graphs, signatures and their ends."""

from __future__ import annotations

from ...schema.tensorflow import saved_model

SAVED_MODEL_SCHEMA_VERSION = 1
SAVED_MODEL_FILENAME_PB = saved_model.BINARY
SAVED_MODEL_FILENAME_PBTXT = saved_model.TEXT
VARIABLES_DIRECTORY, VARIABLES_FILENAME = saved_model.CHECKPOINT.split("/")
ASSETS_DIRECTORY = saved_model.ASSETS
ASSETS_KEY = saved_model.ASSET_COLLECTION
MAIN_OP_KEY, LEGACY_INIT_OP_KEY = saved_model.MAIN_OPS
TRAIN_OP_KEY = "saved_model_train_op"
INIT_OP_SIGNATURE_KEY = saved_model.INITIALIZER
TRAIN_OP_SIGNATURE_KEY = "__saved_model_train_op"
DEBUG_DIRECTORY = "debug"
DEBUG_INFO_FILENAME_PB = "saved_model_debug_info.pb"

SERVING = "serve"
TRAINING = "train"
GPU = "gpu"
TPU = "tpu"

DEFAULT_SERVING_SIGNATURE_DEF_KEY = "serving_default"
CLASSIFY_INPUTS = "inputs"
CLASSIFY_METHOD_NAME = "tensorflow/serving/classify"
CLASSIFY_OUTPUT_CLASSES = "classes"
CLASSIFY_OUTPUT_SCORES = "scores"
PREDICT_INPUTS = "inputs"
PREDICT_METHOD_NAME = "tensorflow/serving/predict"
PREDICT_OUTPUTS = "outputs"
REGRESS_INPUTS = "inputs"
REGRESS_METHOD_NAME = "tensorflow/serving/regress"
REGRESS_OUTPUTS = "outputs"
