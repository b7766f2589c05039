# a range of --dim has at most 64 values
# arenac: plan ../plan/range-upper-bound.ag --dim n=1..100
