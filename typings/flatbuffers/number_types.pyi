class UOffsetTFlags:
    py_type: type[int]
