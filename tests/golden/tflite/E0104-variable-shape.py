# a variable that is read as one thing and written as another
from tflite_bytes import *

write([tensor("x", F32, [3]), tensor("h", 13, []), tensor("now", F32, [2])],
      [op("VAR_HANDLE", [], [1], 111, {1: "v"}), op("READ_VARIABLE", [1], [2]), op("ASSIGN_VARIABLE", [1, 0], [])],
      [0], [2])
