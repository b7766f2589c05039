# two items that share bytes while both live
# arenac: verify
