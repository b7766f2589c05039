# a text input that is a result: what the model does not know has no text; an unknown size
# arenac: show
from onnx_bytes import *

write(model(graph([node("Concat", ["x", "t"], ["y"], attr_int("axis", 0))], [("x", STRING, ["n"])], [("y", STRING, ["m"])],
                  [tensor("t", STRING, [1], None, sub(6, "a"))])))
