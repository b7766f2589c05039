# a variable that is read and changed is state that starts with the value of the checkpoint
# arenac: check --dump-after infer
from saved_model import *

one = const("one", FLOAT, (3,), struct.pack("<3f", 1, 1, 1))
change = node("count", "AssignAddVariableOp", "b", "one:output:0", "^read_b", dtype=(6, "type", FLOAT))
saved_model("m", graph=saved_graph([one, change, node("out", "AddV2", "sum:z:0", "one:output:0")], ["count"]))
