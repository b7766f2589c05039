# a file without a line
# arenac: --from csv
