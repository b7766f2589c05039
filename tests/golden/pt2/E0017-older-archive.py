# the layout before PyTorch 2.8
from pt2_bytes import *

save(archive([("archive/version", b"1"), ("archive/serialized_exported_program.json", b"{}")]))
