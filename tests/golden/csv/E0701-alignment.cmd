# an offset that breaks the alignment
# arenac: verify
