# a layer of PT2E: bytes in, bytes out; its product is run by an integer kernel
# arenac: plan
import struct
from pt2_bytes import *

p = Program()
w = p.weight("fc.weight", I8, [2, 4], struct.pack("8b", 1, -2, 3, 4, -5, 6, 7, -8))
s = p.weight("fc.scales", F32, [2], floats(0.5, 0.25), "buffer")
z = p.weight("fc.zeros", I64, [2], struct.pack("<2q", 0, 0), "buffer")
p.input("x", F32, [3, 4])
bounds = {"scale": 0.125, "zero_point": 3, "quant_min": -128, "quant_max": 127}
p.node("quantized_decomposed.dequantize_per_channel.default",
       {"input": w, "scales": s, "zero_points": z, "axis": 0, "quant_min": -127, "quant_max": 127,
        "dtype": {"as_scalar_type": I8}}, [("weight", F32, [2, 4])])
p.node("quantized_decomposed.quantize_per_tensor.default", {"input": T("x"), **bounds, "dtype": {"as_scalar_type": I8}},
       [("q", I8, [3, 4])])
p.node("quantized_decomposed.dequantize_per_tensor.default", {"input": T("q"), **bounds, "dtype": {"as_scalar_type": I8}},
       [("d", F32, [3, 4])])
p.node("aten.linear.default", {"input": T("d"), "weight": T("weight")}, [("y", F32, [3, 2])], "fc")
p.output("y")
write(p)
