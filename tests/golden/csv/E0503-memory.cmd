# intervals have one memory
# arenac: --mem a:2
