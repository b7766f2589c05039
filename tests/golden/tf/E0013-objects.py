# an object refers to one that is not there
from saved_model import *

graph = saved_graph(restored={})
graph[1][2].append((7, "object_graph_def", [(1, "nodes", [(1, "children", [(1, "node_id", 9), (2, "local_name", "a")])])]))
saved_model("m", objects=True, graph=graph)
