# diff takes two files
# arenac: diff one.lock
