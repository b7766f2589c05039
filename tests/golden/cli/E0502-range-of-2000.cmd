# a range of --dim has at most 1,024 values
# arenac: plan ../plan/range-upper-bound.ag --dim n=1..2000
