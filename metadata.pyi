# What editors and type checkers see of this module; tests/write_stubs.py writes it.
"""What `.tflite` models say of themselves: metadata and associated files."""

from .schema.metadata import AssociatedFile as AssociatedFile
from .schema.metadata import AssociatedFileType as AssociatedFileType
from .schema.metadata import AudioProperties as AudioProperties
from .schema.metadata import BertTokenizerOptions as BertTokenizerOptions
from .schema.metadata import BoundingBoxProperties as BoundingBoxProperties
from .schema.metadata import BoundingBoxType as BoundingBoxType
from .schema.metadata import ColorSpaceType as ColorSpaceType
from .schema.metadata import Content as Content
from .schema.metadata import CoordinateType as CoordinateType
from .schema.metadata import CustomMetadata as CustomMetadata
from .schema.metadata import FeatureProperties as FeatureProperties
from .schema.metadata import ImageProperties as ImageProperties
from .schema.metadata import ImageSize as ImageSize
from .schema.metadata import ModelMetadata as ModelMetadata
from .schema.metadata import NormalizationOptions as NormalizationOptions
from .schema.metadata import ProcessUnit as ProcessUnit
from .schema.metadata import RegexTokenizerOptions as RegexTokenizerOptions
from .schema.metadata import ScoreCalibrationOptions as ScoreCalibrationOptions
from .schema.metadata import ScoreThresholdingOptions as ScoreThresholdingOptions
from .schema.metadata import ScoreTransformationType as ScoreTransformationType
from .schema.metadata import SentencePieceTokenizerOptions as SentencePieceTokenizerOptions
from .schema.metadata import Stats as Stats
from .schema.metadata import SubGraphMetadata as SubGraphMetadata
from .schema.metadata import TensorGroup as TensorGroup
from .schema.metadata import TensorMetadata as TensorMetadata
from .schema.metadata import ValueRange as ValueRange
from .tools.metadata import from_json as from_json
from .tools.metadata import get_metadata as get_metadata
from .tools.metadata import labels as labels
from .tools.metadata import set_metadata as set_metadata
from .tools.metadata import to_json as to_json
