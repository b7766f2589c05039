# a counter: a variable that another subgraph sets once, that is read, and written for the next run
# arenac: check --dump-after infer
import struct

from tflite_bytes import *

RESOURCE = 13
name = {1: "count"}
start = ([tensor("h0", RESOURCE, []), tensor("first", F32, [2], struct.pack("<2f", 3, 4))],
         [op("VAR_HANDLE", [], [0], 111, name), op("ASSIGN_VARIABLE", [0, 1], [])], [], [])
write([tensor("x", F32, [2]), tensor("h", RESOURCE, []), tensor("now", F32, [2]), tensor("next", F32, [2])],
      [op("CALL_ONCE", [], [], 103, {0: i32(1)}), op("VAR_HANDLE", [], [1], 111, name), op("READ_VARIABLE", [1], [2]),
       op("ADD", [2, 0], [3]), op("ASSIGN_VARIABLE", [1, 3], [])], [0], [2], [start])
