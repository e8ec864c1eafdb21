"""What `.tflite` models say of themselves: metadata and associated files."""

from .facade import facade

HOMES = {
    "schema.metadata": "AssociatedFile AssociatedFileType AudioProperties BertTokenizerOptions "
    "BoundingBoxProperties BoundingBoxType ColorSpaceType Content CoordinateType CustomMetadata "
    "FeatureProperties ImageProperties ImageSize ModelMetadata NormalizationOptions ProcessUnit "
    "RegexTokenizerOptions ScoreCalibrationOptions ScoreThresholdingOptions "
    "ScoreTransformationType SentencePieceTokenizerOptions Stats SubGraphMetadata TensorGroup "
    "TensorMetadata ValueRange",
    "tools.metadata": "from_json get_metadata labels set_metadata to_json",
}
__all__, __getattr__, __dir__ = facade(__name__, HOMES)
