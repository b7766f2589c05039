# arenac: --budget 7
