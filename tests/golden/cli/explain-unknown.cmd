# a code that there is not
# arenac: explain E9999
