#!/bin/sh
# Models of 1 GB in sparse files are planned in little memory, and small files that claim to be large do not get it.
# usage: large.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
case $arenac in *asan*) echo "skipped: memory is counted without sanitizers"; exit 77 ;; esac
require python3 python3
python3 "$src/tests/values/large.py" "$arenac"
