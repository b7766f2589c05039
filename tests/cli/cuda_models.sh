#!/bin/sh
# The small public models (below 3 million multiply-adds) under the emulation of a GPU: the verdicts of the C backend.
# scripts/cuda.sh runs larger ones. usage: cuda_models.sh ARENAC SOURCE_DIR
set -u
arenac=$1 src=$2
. "$2/tests/cli/require"
models=$shared/models
have_shared models && have_numpy && have "${CC:-cc}" gcc || exit 77
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ln -s "$arenac" "$tmp/arenac" # the runner splits its command at blanks
# shellcheck disable=SC2046
$py "$models/run_models.py" --cmd "$tmp/arenac" --backend cuda-emu --sets 1 --timeout 500 --min-pass 54 $($py -c 'import json, pathlib, sys
for m in sorted(pathlib.Path(sys.argv[1]).rglob("model.json")):
    if (json.loads(m.read_text()).get("macs") or 0) < 3e6:
        print(m.parent)' "$models") >"$tmp/out" || { grep -v '^pass' "$tmp/out"; exit 1; }
tail -1 "$tmp/out"
