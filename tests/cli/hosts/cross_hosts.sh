#!/bin/sh
# Builds for Windows, Linux on AArch64 and musl, with warnings as errors; their quick tests pass in an emulator, and ten
# models give the same bytes as here. Minutes for each, so only if it is asked for: ARENAC_CROSS="windows aarch64 musl".
# usage: cross_hosts.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
[ -n "${ARENAC_CROSS-}" ] || { echo 'skipped: set ARENAC_CROSS="windows aarch64 musl", or one of them'; exit 77; }
require python3 python3
for host in $ARENAC_CROSS; do
    sh "$src/scripts/$host.sh" "$tmp/$host" >"$host.txt" 2>&1 || fail "$host: $(tail -40 "$host.txt")"
    other=$tmp/$host/emulated/arenac
    [ -x "$other" ] || other=$tmp/$host/arenac
    python3 "$src/scripts/same_hosts.py" "$arenac" "$other" >"$host.same" || fail "$host: $(cat "$host.same")"
    echo "$host: $(tail -1 "$host.same")"
done
