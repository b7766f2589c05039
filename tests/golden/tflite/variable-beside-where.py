# a variable in a model of which data decides the size of a result
# arenac: check --dump-after infer
from tflite_bytes import *

write([tensor("x", F32, [3]), tensor("h", 13, []), tensor("now", F32, [3]), tensor("flags", BOOL, [3]),
       tensor("where", I64, [-1, 1]), tensor("sum", F32, [3])],
      [op("VAR_HANDLE", [], [1], 111, {1: "v"}), op("WHERE", [3], [4]), op("READ_VARIABLE", [1], [2]),
       op("ADD", [0, 2], [5]), op("ASSIGN_VARIABLE", [1, 5], [])],
      [0, 3], [2, 4])
