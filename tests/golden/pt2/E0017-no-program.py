# AOTInductor's packages have no graph
from pt2_bytes import *

save(archive([("net/archive_format", b"pt2"), ("net/data/aotinductor/model/x.so", b"\x7fELF")]))
