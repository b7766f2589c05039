# the least size comes first
# arenac: plan ../plan/range-upper-bound.ag --dim n=5..2
