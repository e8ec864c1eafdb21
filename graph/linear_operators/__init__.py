"""`tf.linalg.LinearOperator` and its classes: matrices by what they are made of."""

from . import blocks as blocks
from . import derived as derived
from . import structured as structured
