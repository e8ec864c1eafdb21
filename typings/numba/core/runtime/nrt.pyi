from ..codegen import CodeLibrary

class _Runtime:
    library: CodeLibrary

rtsys: _Runtime
