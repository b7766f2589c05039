# all operators that are not supported are listed, with the reason
from onnx_bytes import *

nodes = [node("RegexFullMatch", ["x"], ["a"], name="match"), node("Nosuch", ["a"], ["b"]), node("Nosuch", ["b"], ["c"])]
nodes += [node("Own", ["c"], ["y"], domain="my.domain")]
write(model(graph(nodes), opsets=(("", 18), ("my.domain", 1))))
