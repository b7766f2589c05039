# an input that is an optional sequence of tensors
from onnx_bytes import *

sequence = sub(4, sub(1, sub(1, num(1, F32) + sub(2, shape([3])))))
write(model(graph([node("Neg", ["x"], ["y"])]) + sub(11, sub(1, "a name") + sub(2, sub(9, sub(1, sequence))))))
