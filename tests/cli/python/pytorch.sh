#!/bin/sh
# Modules of PyTorch through the package arenac, with the tool of this build. usage: pytorch.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
! sanitized || { echo "skipped: tests/cli/code/host.sh has the runtime under sanitizers"; exit 77; }
have_torch || exit 77
as_installed site
"$py" "$src/tests/host/torch_test.py" "$src"
