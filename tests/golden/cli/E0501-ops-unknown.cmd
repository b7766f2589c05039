# an operator that no format has
# arenac: ops NoSuchOperator
