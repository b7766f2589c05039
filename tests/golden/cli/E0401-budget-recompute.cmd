# what would take less is named, with the option
# arenac: plan ../plan/recompute-squares.ag --budget 1000
