"""The names of `tf.strings`."""

from ...facade import facade
from .homes import STRINGS

ABSENT = {
    "unicode_script": "scripts of Unicode are not known; take unicode_decode and compare numbers"
}
__all__, __getattr__, __dir__ = facade(__name__, STRINGS, absent=ABSENT)
