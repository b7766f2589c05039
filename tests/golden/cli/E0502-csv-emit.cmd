# intervals have no code
# arenac: plan ../csv/alignment.csv --emit c
