# Scan is a loop; axes and directions of its operands and results are of all kinds
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

body = graph([node("Add", ["h", "s"], ["a"]), node("Tanh", ["a"], ["n"]), node("Mul", ["n", "w"], ["e"])],
             [("h", F32, [2]), ("s", F32, [2])], [("n", F32, [2]), ("e", F32, [2])])
scan = node("Scan", ["h0", "x"], ["last", "y"], attr_graph("body", body) + attr_int("num_scan_inputs", 1) +
            attr_ints("scan_input_axes", [1]) + attr_ints("scan_output_axes", [-1]) +
            attr_ints("scan_input_directions", [1]) + attr_ints("scan_output_directions", [0]))
write(model(graph([scan], [("h0", F32, [2]), ("x", F32, [2, 9])], [("last", F32, [2]), ("y", F32, [2, 9])],
                  [tensor("w", F32, [2], struct.pack("<2f", 2, 3))])))
