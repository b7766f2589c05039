# a fixed offset over the budget
# arenac: --budget 11
