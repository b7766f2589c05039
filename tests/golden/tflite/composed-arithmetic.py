# operators that become several: add_n, atan2
# arenac: check --dump-after infer
from tflite_bytes import *

names = ["a", "b", "c", "sum", "angle"]
write([tensor(n, F32, [2, 3]) for n in names], [op("ADD_N", [0, 1, 2], [3]), op("ATAN2", [3, 0], [4])], [0, 1, 2], [4])
