# a range of --dim with several memories
# arenac: plan ../plan/range-upper-bound.ag --dim n=1..4 --mem a:4K
