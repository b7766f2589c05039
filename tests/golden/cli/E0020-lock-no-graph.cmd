# what a merge has left of a lock: it says which line is missing
# arenac: diff E0020-lock-no-graph.lock E0020-lock-no-graph.lock
