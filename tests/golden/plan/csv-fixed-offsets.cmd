# arenac free: --ignore-offsets
