# a member that another tool has compressed
from pt2_bytes import *

save(archive(members(linear_net()), ["net/models/model.json"]))
