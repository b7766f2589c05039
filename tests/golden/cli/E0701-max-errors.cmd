# verify stops after as many pairs as --max-errors says
# arenac: verify --max-errors 2 all-overlap.plan.txt
