# arenac: --bound size=9
# a part of two results is the name of none
from onnx_bytes import *

numbers = [tensor("one", I64, [], bytes([1] + [0] * 7)), tensor("zero", I64, [], bytes(8))]
names = ["net/left/size", "net/right/size"]
write(model(graph([node("ReduceSum", ["x"], ["s"], attr_int("keepdims", 0)), node("Cast", ["s"], ["n"], attr_int("to", 7))] +
                  [node("Range", ["zero", "n", "one"], [r], name=r) for r in names],
                  outs=[(r, I64, ["k"]) for r in names], weights=numbers)))
