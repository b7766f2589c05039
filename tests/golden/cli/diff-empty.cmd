# a lock without tensors, and one that has some
# arenac: diff diff-empty.lock diff-some.lock
