#!/bin/sh
# The public corpora beside the repository, when they are there: models, operator cases, hostile files, packing instances.
# usage: shared.sh ARENAC SOURCE_DIR
set -u
arenac=$1 shared=$2/../shared
[ -d "$shared/models" ] || { echo "skipped: no ../shared beside the repository"; exit 77; }
python3 -c 'import numpy' 2>/dev/null || { echo "skipped: python3 has no numpy"; exit 77; }
case $arenac in *asan*) echo "skipped: the corpora run on the release build; hostile files run apart"; exit 77 ;; esac
bad=0
python3 "$shared/models/run_models.py" --cmd "$arenac" --min-pass 38 "$shared/models/tflite" || bad=1
python3 "$shared/conformance/tflite_conformance.py" run "$shared/conformance/tflite_ops" \
    --command "$arenac run {model} {inputs} --output-dir {out}" --min-exact 260 || bad=1
exit $bad
