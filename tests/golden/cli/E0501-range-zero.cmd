# sizes begin at 1
# arenac: plan ../plan/range-upper-bound.ag --dim n=0..2
