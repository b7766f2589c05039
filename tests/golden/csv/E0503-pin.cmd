# intervals are pinned by their offset
# arenac: --pin a=arena@0
