# arenac: --bound z=4
# a bound for what is no result of a computed size
from onnx_bytes import *

write(model(graph([node("Neg", ["x"], ["y"])])))
