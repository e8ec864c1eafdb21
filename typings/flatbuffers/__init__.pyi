from . import flexbuffers as flexbuffers
from .builder import Builder as Builder
