#!/bin/sh
# corpora.sh - runs the public corpora next to the repository through generated C, as users run it: all models on all
# sets, all operator cases, hostile files, plans. About six minutes on two cores. usage: corpora.sh [ARENAC]
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
arenac=${1:-$root/build/arenac}
shared=$root/../shared
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ln -s "$(cd "$(dirname "$arenac")" && pwd)/$(basename "$arenac")" "$tmp/arenac"
python3 "$shared/models/run_models.py" --cmd "$tmp/arenac" --min-pass 40 "$shared/models/tflite"
python3 "$shared/conformance/tflite_conformance.py" run "$shared/conformance/tflite_ops" \
    --command "$tmp/arenac run {model} {inputs} --output-dir {out}" --min-exact 318
sh "$root/tests/cli/formats/shared.sh" "$arenac" "$root"
