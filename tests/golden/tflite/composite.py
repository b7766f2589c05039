# a composite is the subgraph that says what it computes
# arenac: check --dump-after infer
from tflite_bytes import *

body = ([tensor("p", F32, [2, 3]), tensor("q", F32, [2, 3]), tensor("r", F32, [2, 3])],
        [op("ADD", [0, 1], [2])], [0, 1], [2])
call = op("STABLEHLO_COMPOSITE", [0, 1], [2])
call.update({11: i8(21), 12: {0: "lib.add", 1: i32(1)}})
write([tensor(n, F32, [2, 3]) for n in "aby"], [call], [0, 1], [2], [body])
