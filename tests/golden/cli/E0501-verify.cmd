# verify takes a plan
# arenac: verify
