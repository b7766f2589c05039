# a composite of a subgraph that is not there
from tflite_bytes import *

call = op("STABLEHLO_COMPOSITE", [0], [1])
call.update({11: i8(21), 12: {0: "lib.neg", 1: i32(3)}})
write([tensor(n, F32, [2, 3]) for n in "ay"], [call], [0], [1])
