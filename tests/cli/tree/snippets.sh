#!/bin/sh
# Runs the examples of README.md and docs/: commands, graphs and C, block by block (tests/docs/snippets.py);
# tests/docs/not_run.txt has the reasons for exceptions. usage: snippets.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
case $arenac in *asan*) echo "skipped: the release build is what people run"; exit 77 ;; esac
require python3 python3 "${CC:-cc}" gcc
mkdir shown
python3 "$src/tests/docs/snippets.py" "$arenac" "$src" shown
