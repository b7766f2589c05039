# the handle of a variable as an input of the model
from tflite_bytes import *

write([tensor("h", 13, []), tensor("now", F32, [2])], [op("READ_VARIABLE", [0], [1])], [0], [1])
