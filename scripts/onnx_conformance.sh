#!/bin/sh
# onnx_conformance.sh - runs the whole ONNX conformance suite next to the repository through generated C: every case
# that passed before must pass, and none may be wrong, crash or hang. usage: onnx_conformance.sh [ARENAC] [--update]
# [option of the runner]...
#     --update              writes tests/onnx/passing.txt anew
#     HOW="--backend eval"  options of arenac run
#     CASES=DIR             an existing extraction
set -eu
src=$(cd "$(dirname "$0")/.." && pwd)
arenac=$src/build/arenac update=
case ${1-} in -* | '') ;; *) arenac=$(realpath "$1"); shift ;; esac
case ${1-} in --update) update=1; shift ;; esac
suite=$src/../shared/conformance
[ -d "$suite" ] || { echo "there is no ../shared beside the repository"; exit 1; }
if ! python3 -c 'import ml_dtypes'; then
    echo "the runner needs ml_dtypes from PyPI to compare floats of 8 and 4 bits"
    exit 1
fi
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cases=${CASES-$tmp/cases}
[ -d "$cases" ] || { mkdir -p "$cases"; tar xJf "$suite/onnx_cases.tar.xz" -C "$cases"; }
ln -s "$arenac" "$tmp/arenac" # the runner splits its command at blanks: a path without any
expect= # of a part of the suite, made by options, the list names more than was run
[ -n "$update" ] || [ $# -gt 0 ] || expect="--expect $src/tests/onnx/passing.txt"
missing=0
# shellcheck disable=SC2086
python3 "$suite/onnx_conformance.py" run "$cases" --label arenac --jobs 2 --json "$tmp/r.json" $expect \
    --command "$tmp/arenac run {model} {inputs} --output-dir {out} ${HOW-}" "$@" || missing=1 # told below
python3 - "$tmp/r.json" "$update" "$src/tests/onnx/passing.txt" "$cases" <<'EOF'
import json, os, sys
doc = json.load(open(sys.argv[1]))
def drawn(r): # the suite expects the numbers of one generator; others differ
    return "random number generation" in json.load(open(os.path.join(sys.argv[4], r["id"], "case.json")))["reasons"]
bad = [r for r in doc["results"]
       if r["status"] in ("error", "crash", "timeout") or (r["status"] == "wrong" and not drawn(r))]
for r in bad:
    print(r["status"], r["id"], r["note"].strip()[-200:])
if sys.argv[2]:
    with open(sys.argv[3], "w") as f:
        f.writelines(sorted(r["id"] + "\n" for r in doc["results"] if r["status"] == "pass"))
times = sorted(r["seconds"] for r in doc["results"] if r["status"] == "pass" and r["kind"] != "light")
print("%.0f s in all; %.2f s a passing case on average, light models aside" %
      (doc["wall_seconds"], sum(times) / max(1, len(times))))
sys.exit(bool(bad))
EOF
exit "$missing"
