# the text with the exporter's objects has another checksum
from saved_model import *

saved_model("m", objects=True, change={"_CHECKPOINTABLE_OBJECT_GRAPH": {"sum": 1}})
