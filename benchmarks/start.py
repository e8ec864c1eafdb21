"""One process from its start to the first result, and the memory it then holds.

    python benchmarks/start.py [LIBRARY MODEL.tflite]

Prints the clock, which all processes share, the CPU time and the resident bytes after the first
invoke, or after `import numpy` when no library is named: what every contestant pays.
"""

import resource
import sys
import time

import numpy  # the base

if len(sys.argv) > 1:
    from importlib import import_module

    interpreter = import_module(sys.argv[1]).Interpreter(model_path=sys.argv[2], num_threads=1)
    interpreter.allocate_tensors()
    for detail in interpreter.get_input_details():  # LiteRT's are not initialised
        interpreter.set_tensor(detail["index"], numpy.zeros(detail["shape"], detail["dtype"]))
    interpreter.invoke()
    interpreter.get_tensor(interpreter.get_output_details()[0]["index"])
clock, cpu = time.perf_counter(), time.process_time()
with open("/proc/self/statm") as file:
    pages = int(file.read().split()[1])
print(clock, cpu, pages * resource.getpagesize())
