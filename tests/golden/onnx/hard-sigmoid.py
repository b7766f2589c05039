# alpha x + beta as alpha (x + beta / alpha), the quotient being the sum of two floats: nothing cancels near -beta / alpha
# arenac: check --dump-after infer
from onnx_bytes import *

write(model(graph([node("HardSigmoid", ["x"], ["y"])])))
