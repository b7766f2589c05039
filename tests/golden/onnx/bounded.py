# arenac: --bound r=9
# a range as long as the data says, of at most nine elements; both outputs are counted alike
from onnx_bytes import *

numbers = [tensor("one", I64, [], bytes([1] + [0] * 7)), tensor("zero", I64, [], bytes(8))]
write(model(graph([node("ReduceSum", ["x"], ["s"], attr_int("keepdims", 0)), node("Cast", ["s"], ["n"], attr_int("to", 7)),
                   node("Range", ["zero", "n", "one"], ["r"], name="range"), node("Mul", ["r", "r"], ["y"])],
                  outs=(("r", I64, ["k"]), ("y", I64, ["k"])), weights=numbers)))
