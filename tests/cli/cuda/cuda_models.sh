#!/bin/sh
# The small public models (below 3 million multiply-adds) under the emulation of a GPU: the verdicts of the C backend.
# scripts/cuda_sweep.sh runs larger ones. usage: cuda_models.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_shared models && have_numpy && have "${CC:-cc}" gcc || exit 77
ln -s "$arenac" arenac # the runner splits its command at blanks
small=$($py -c 'import json, pathlib, sys
for m in sorted(pathlib.Path(sys.argv[1]).rglob("model.json")):
    if (json.loads(m.read_text()).get("macs") or 0) < 3e6:
        print(m.parent)' "$shared/models")
# shellcheck disable=SC2086
$py "$shared/models/run_models.py" --cmd "$tmp/arenac" --backend cuda-emu --sets 1 --timeout 500 --min-pass 54 \
    $small >out || { fail "the models"; grep -v '^pass' out; }
tail -1 out
