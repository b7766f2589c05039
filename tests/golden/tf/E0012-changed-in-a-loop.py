# a variable is changed in a loop, which would not run, as nothing leaves it
from saved_model import *

one = const("one", FLOAT, (3,), struct.pack("<3f", 1, 1, 1))
enter = node("enter", "Enter", "one:output:0", T=(6, "type", FLOAT), frame_name=(2, "s", "while"))
change = node("count", "AssignAddVariableOp", "b", "enter:output:0", dtype=(6, "type", FLOAT))
saved_model("m", graph=saved_graph([one, enter, change, node("out", "AddV2", "x", "one:output:0")], ["count"]))
