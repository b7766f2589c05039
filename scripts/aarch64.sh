#!/bin/sh
# aarch64.sh - builds arenac for Linux on AArch64, and runs the quick tests under QEMU.
# usage: aarch64.sh [FOLDER: build-aarch64] [CTEST OPTIONS: -L quick]. Of Debian: gcc-aarch64-linux-gnu, qemu-user.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
. "$root/scripts/setup.sh"
. "$root/scripts/cross.sh"
need cmake cmake ninja ninja-build aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu qemu-aarch64 qemu-user python3 python3
cross aarch64 "$@"
