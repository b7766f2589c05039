# parts beyond all numbers: of each size it is one part, in a list it is wrong
from onnx_bytes import *

weights = [tensor("most", I64, [], struct.pack("<q", 2**63 - 1)), tensor("i", I64, [], struct.pack("<q", 0)),
           tensor("two", I64, [2], struct.pack("<2q", 2**62, 2**62))]
nodes = [node("SplitToSequence", ["x", "most"], ["s"]), node("SequenceAt", ["s", "i"], ["y"]),
         node("SplitToSequence", ["x", "two"], ["t"]), node("SequenceAt", ["t", "i"], ["z"])]
write(model(graph(nodes, [X], [Y, ("z", F32, [2, 3])], weights)))
