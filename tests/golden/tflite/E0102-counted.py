# of lists that are joined one is left out, and data count the others; of numbers that are added, too
from tflite_bytes import *

t = [tensor("c", I32, [6]), tensor("x", F32, [6, 4]), tensor("w", I64, [6, 1]), tensor("g", F32, [6, 4]),
     tensor("joined", F32, [12, 4]), tensor("sum", F32, [6, 4])]
write(t, [op("WHERE", [0], [2]), op("GATHER_ND", [1, 2], [3]), op("CONCATENATION", [3, -1, 3], [4], 10, {}),
          op("ADD_N", [1, -1, 1], [5])], [0, 1], [4, 5])
