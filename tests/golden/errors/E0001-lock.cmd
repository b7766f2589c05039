# the model comes first
# arenac: show E0001-lock.lock
