# the real part of a real number
from tflite_bytes import *

write([tensor("x", F32, [1, 8]), tensor("y", F32, [1, 8])], [op("REAL", [0], [1])], [0], [1])
