# an LSTM whose peephole has no dimensions
from onnx_bytes import *

w, r = tensor("w", F32, [1, 16, 5], bytes(320)), tensor("r", F32, [1, 16, 4], bytes(256))
lstm = node("LSTM", ["x", "w", "r"] + [""] * 4 + ["p"], ["y"], attr_int("hidden_size", 4), name="lstm")
write(model(graph([lstm], ins=[("x", F32, [3, 1, 5])], outs=[("y", F32, [3, 1, 1, 4])],
                  weights=[w, r, tensor("p", F32, [], bytes(4))])))
