# operators that only the optimiser of ONNX Runtime writes: the way out is another level of it
from onnx_bytes import *

NCHWC = "com.microsoft.nchwc"
nodes = [node("ReorderInput", ["x"], ["a"], domain=NCHWC), node("MaxPool", ["a"], ["b"], domain=NCHWC),
         node("ReorderOutput", ["b"], ["y"], domain=NCHWC)]
write(model(graph(nodes), opsets=(("", 18), (NCHWC, 1))))
