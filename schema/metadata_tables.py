"""The schema of models' metadata as plain data. Made from metadata.fbs by generate.py; do not edit.

ENUMS: enum -> {member: value}, each also a constant (ASSOCIATED_FILE_TYPE, ...).
ENUM_TYPES: enum -> the scalar type of its fields.
UNIONS: union -> its member tables, by type value; 0 is None.
TABLES: table -> fields (name, type, default, slot); a union's slot is that of its type, its value
is in the next one. A type in brackets is a vector. The text has name:type:slot=default.
ALIGNMENT: (table, field) -> bytes its vector is aligned to, where that is more than the element.
"""

from __future__ import annotations

from .rows import Default as Default
from .rows import Field as Field
from .rows import Rows

FILE_IDENTIFIER = 'M001'

ROOT_TYPE = 'ModelMetadata'

ASSOCIATED_FILE_TYPE = {
    'UNKNOWN': 0,
    'DESCRIPTIONS': 1,
    'TENSOR_AXIS_LABELS': 2,
    'TENSOR_VALUE_LABELS': 3,
    'TENSOR_AXIS_SCORE_CALIBRATION': 4,
    'VOCABULARY': 5,
    'SCANN_INDEX_FILE': 6,
}

COLOR_SPACE_TYPE = {
    'UNKNOWN': 0,
    'RGB': 1,
    'GRAYSCALE': 2,
}

BOUNDING_BOX_TYPE = {
    'UNKNOWN': 0,
    'BOUNDARIES': 1,
    'UPPER_LEFT': 2,
    'CENTER': 3,
}

COORDINATE_TYPE = {
    'RATIO': 0,
    'PIXEL': 1,
}

SCORE_TRANSFORMATION_TYPE = {
    'IDENTITY': 0,
    'LOG': 1,
    'INVERSE_LOGISTIC': 2,
}

ENUMS = {
    'AssociatedFileType': ASSOCIATED_FILE_TYPE,
    'ColorSpaceType': COLOR_SPACE_TYPE,
    'BoundingBoxType': BOUNDING_BOX_TYPE,
    'CoordinateType': COORDINATE_TYPE,
    'ScoreTransformationType': SCORE_TRANSFORMATION_TYPE,
}

ENUM_TYPES = {'AssociatedFileType': 'byte', 'ColorSpaceType': 'byte', 'BoundingBoxType': 'byte', 'CoordinateType': 'byte', 'ScoreTransformationType': 'byte'}

UNIONS: dict[str, tuple[str | None, ...]] = {
    'ContentProperties': (
        None,
        'FeatureProperties',
        'ImageProperties',
        'BoundingBoxProperties',
        'AudioProperties',
    ),
    'ProcessUnitOptions': (
        None,
        'NormalizationOptions',
        'ScoreCalibrationOptions',
        'ScoreThresholdingOptions',
        'BertTokenizerOptions',
        'SentencePieceTokenizerOptions',
        'RegexTokenizerOptions',
    ),
}

TABLES = Rows("""
AssociatedFile name:string:0= description:string:1= type:AssociatedFileType:2=0 locale:string:3= version:string:4=
FeatureProperties
ImageSize width:uint:0=0 height:uint:1=0
ImageProperties color_space:ColorSpaceType:0=0 default_size:ImageSize:1=
AudioProperties sample_rate:uint:0=0 channels:uint:1=0
BoundingBoxProperties index:[uint]:0= type:BoundingBoxType:1=0 coordinate_type:CoordinateType:2=0
ValueRange min:int:0=0 max:int:1=0
Content content_properties:ContentProperties:0= range:ValueRange:2=
NormalizationOptions mean:[float]:0= std:[float]:1=
ScoreCalibrationOptions score_transformation:ScoreTransformationType:0=0 default_score:float:1=0.0
ScoreThresholdingOptions global_score_threshold:float:0=0.0
BertTokenizerOptions vocab_file:[AssociatedFile]:0=
SentencePieceTokenizerOptions sentencePiece_model:[AssociatedFile]:0= vocab_file:[AssociatedFile]:1=
RegexTokenizerOptions delim_regex_pattern:string:0= vocab_file:[AssociatedFile]:1=
ProcessUnit options:ProcessUnitOptions:0=
Stats max:[float]:0= min:[float]:1=
TensorGroup name:string:0= tensor_names:[string]:1=
TensorMetadata name:string:0= description:string:1= dimension_names:[string]:2= content:Content:3= process_units:[ProcessUnit]:4= stats:Stats:5= associated_files:[AssociatedFile]:6=
CustomMetadata name:string:0= data:[ubyte]:1=
SubGraphMetadata name:string:0= description:string:1= input_tensor_metadata:[TensorMetadata]:2= output_tensor_metadata:[TensorMetadata]:3= associated_files:[AssociatedFile]:4= input_process_units:[ProcessUnit]:5= output_process_units:[ProcessUnit]:6= input_tensor_groups:[TensorGroup]:7= output_tensor_groups:[TensorGroup]:8= custom_metadata:[CustomMetadata]:9=
ModelMetadata name:string:0= description:string:1= version:string:2= subgraph_metadata:[SubGraphMetadata]:3= author:string:4= license:string:5= associated_files:[AssociatedFile]:6= min_parser_version:string:7=
""")

ALIGNMENT = {('CustomMetadata', 'data'): 16}


def name_of(enum: str, value: int) -> str:
    """The member of `enum` that has `value`; raises KeyError when there is none.

    >>> name_of("ColorSpaceType", 1)
    'RGB'
    """
    names = _NAMES.get(enum)
    if names is None:
        names = _NAMES[enum] = {number: name for name, number in ENUMS[enum].items()}
    return names[value]


_NAMES: dict[str, dict[int, str]] = {}
