# only plan takes intervals
# arenac: check
