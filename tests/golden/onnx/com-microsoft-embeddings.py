# com.microsoft: words, places and segments looked up and added, then normalised; mask lengths; a row of the result
# arenac: check --dump-after infer
import struct

from onnx_bytes import *

MS = "com.microsoft"
f = lambda name, *d: tensor(name, F32, list(d), b"".join(struct.pack("<f", i % 5 - 2) for i in range(d[0] * (d + (1,))[1])))
nodes = [
    node("EmbedLayerNormalization", ["ids", "seg", "words", "places", "kinds", "g", "b", "mask"], ["e", "len", "sum"],
         attr_float("epsilon", 0.25), domain=MS),
    node("LayerNormalization", ["e", "g", "b"], ["n"], attr_int("axis", -1), domain=MS),
    node("SimplifiedLayerNormalization", ["n", "g"], ["y"], attr_int("axis", -1), domain=MS),
    node("GatherND", ["y", "at"], ["row"], domain=MS), node("Range", ["lo", "hi"], ["r"], domain=MS),
    node("Mul", ["row", "r"], ["z"]),
]
weights = [f("words", 5, 4), f("places", 3, 4), f("kinds", 2, 4), f("g", 4), f("b", 4),
           tensor("at", I64, [1, 2], struct.pack("<2q", 0, 1)), f("lo", 1), tensor("hi", F32, [1], struct.pack("<f", 2))]
write(model(graph(nodes, [(k, I32, [1, 2]) for k in ("ids", "seg", "mask")],
                  [("z", F32, [1, 4]), ("len", I32, [1]), ("sum", F32, [1, 2, 4])], weights),
            opsets=(("", 18), (MS, 1))))
