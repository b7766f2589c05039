#!/bin/sh
# What README.md and docs/ show is run: commands, graphs and C, block by block (tests/docs/snippets.py); what is not run
# has a reason in tests/docs/not_run.txt. usage: snippets.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
case $arenac in *asan*) echo "skipped: the release build is what people run"; exit 77 ;; esac
require python3 python3 "${CC:-cc}" gcc
mkdir shown
python3 "$src/tests/docs/snippets.py" "$arenac" "$src" shown
