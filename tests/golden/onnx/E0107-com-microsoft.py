# operators of ONNX Runtime that no static plan can hold say why, each
from onnx_bytes import *

MS = "com.microsoft"
nodes = [node("BeamSearch", ["x"], ["a"], domain=MS), node("RemovePadding", ["x"], ["b"], domain=MS),
         node("SparseAttention", ["a"], ["y"], domain=MS)]
write(model(graph(nodes), opsets=(("", 18), (MS, 1))))
