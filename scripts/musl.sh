#!/bin/sh
# musl.sh - builds arenac as one static program for any Linux, and runs the quick tests.
# usage: musl.sh [FOLDER: build-musl] [CTEST OPTIONS: -L quick]. Of Debian: musl-tools.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
. "$root/scripts/cross.sh"
need cmake cmake ninja ninja-build musl-gcc musl-tools python3 python3
cross musl "$@"
