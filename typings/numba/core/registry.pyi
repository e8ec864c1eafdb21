from .base import BaseContext
from .typing import Context

class CPUTarget:
    typing_context: Context
    target_context: BaseContext

cpu_target: CPUTarget
