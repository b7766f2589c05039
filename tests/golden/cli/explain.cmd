# what a code means
# arenac: explain E0104
