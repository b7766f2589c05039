# a step that runs twice is one function
# arenac: compile ../plan/recompute-squares.ag --recompute --weights blob
