# a plan that is safe, against the intervals in it
# arenac: verify
