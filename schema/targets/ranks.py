"""How many dimensions operators of other runtimes take, where that is less than LiteRT's.

`tests/schema/record_ranks.py` asked the runtimes. The limits of BROADCAST hold for operands of
different shapes.
"""

MICRO = {
    "BATCH_MATMUL": 5,
    "BROADCAST_TO": 5,
    "CONCATENATION": 6,
    "PAD": 5,
    "PADV2": 5,
    "REVERSE_V2": 6,
    "SLICE": 5,
    "STRIDED_SLICE": 4,
    "TRANSPOSE": 5,
}
TF_2_14 = {
    "BATCH_MATMUL": 5,
    "PAD": 5,
    "PADV2": 5,
    "SELECT_V2": 5,
    "SLICE": 5,
    "STRIDED_SLICE": 5,
    "TRANSPOSE": 6,
}
TF_2_14_BROADCAST = {
    "ADD": 6,
    "DIV": 6,
    "EQUAL": 4,
    "FLOOR_DIV": 4,
    "FLOOR_MOD": 4,
    "GREATER": 4,
    "GREATER_EQUAL": 4,
    "LESS": 4,
    "LESS_EQUAL": 4,
    "LOGICAL_AND": 4,
    "LOGICAL_OR": 4,
    "MAXIMUM": 6,
    "MINIMUM": 6,
    "MUL": 6,
    "NOT_EQUAL": 4,
    "POW": 4,
    "SQUARED_DIFFERENCE": 6,
    "SUB": 6,
}
"""Of float32."""
TF_2_14_BROADCAST_INTEGERS = {
    "ADD": 6,
    "DIV": 5,
    "EQUAL": 4,
    "FLOOR_DIV": 4,
    "FLOOR_MOD": 4,
    "GREATER": 4,
    "GREATER_EQUAL": 4,
    "LESS": 4,
    "LESS_EQUAL": 4,
    "LOGICAL_AND": 4,
    "LOGICAL_OR": 4,
    "MAXIMUM": 5,
    "MINIMUM": 5,
    "MUL": 4,
    "NOT_EQUAL": 4,
    "POW": 4,
    "SQUARED_DIFFERENCE": 4,
    "SUB": 5,
}
"""Of integers, quantized ones too; some of those that have more end the process."""
