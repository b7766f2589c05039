# a plan has all offsets
# arenac: verify
