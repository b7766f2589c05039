# QONNX: quantised weights of 3 bits with a scale for each channel, a rounding, one bit, a right shift by two bits
# arenac: check --dump-after epilogue
from onnx_bytes import *

Q = "qonnx.custom_op.general"
kind = attr_int("signed", 1) + attr_int("narrow", 1)
weights = [tensor("w", F32, [2, 3], struct.pack("<6f", .5, -.2, 9, -9, .1, .3)),
           tensor("scales", F32, [2, 1], struct.pack("<2f", .25, .5)), tensor("s", F32, [], struct.pack("<f", .5)),
           tensor("z", I64, [], struct.pack("<q", 0)), tensor("three", F32, [], struct.pack("<f", 3)),
           tensor("five", F32, [], struct.pack("<f", 5))]
nodes = [node("Quant", ["w", "scales", "z", "three"], ["v"], kind, "weights", Q),
         node("IntQuant", ["x", "s", "z", "five"], ["u"], kind + attr_word("rounding_mode", "FLOOR"), "floor", Q),
         node("Gemm", ["u", "v"], ["p"], attr_int("transB", 1)), node("BipolarQuant", ["p", "s"], ["y"], b"", "sign", Q),
         node("Trunc", ["u", "s", "z", "five", "three"], ["t"], b"", "shift", Q)]
outs = [("y", F32, [2, 2]), ("t", F32, [2, 3])]
write(model(graph(nodes, [("x", F32, [2, 3])], outs, weights), opsets=(("", 18), (Q, 1))))
