# help in short: a line or two for each option, whole
# arenac: plan --help
