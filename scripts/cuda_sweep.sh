#!/bin/sh
# cuda_sweep.sh - tests CUDA without a GPU: the public models in the emulation, up to MACS multiply-adds (20 million),
# and all of them through NVRTC for sm_80 and sm_90. No kernel may spill registers, which ptxas checks if it is found
# ($PTXAS, or on the path). usage: cuda_sweep.sh [MACS [MODELS...]]
set -u
root=$(cd "$(dirname "$0")/.." && pwd)
models=$root/../shared/models arenac=$root/build/arenac
[ -d "$models" ] || { echo "no ../shared/models beside the repository"; exit 77; }
most=${1:-20000000}
[ $# -gt 0 ] && shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
ln -s "$arenac" "$tmp/arenac"
status=0
# list FROM TO: models whose multiply-adds are in between: folder, file, weights, outputs, sizes that the file leaves
# open
list() {
    python3 -c 'import json, pathlib, sys
for m in sorted(pathlib.Path(sys.argv[1]).rglob("model.json")):
    d = json.loads(m.read_text())
    if int(sys.argv[2]) <= (d.get("macs") or 0) < int(sys.argv[3]):
        named = d["format"].startswith("tf-") or d["format"] == "tf"
        outputs = ",".join(o["name"] for o in d["outputs"]) if named else "-"
        dims = [i["name"] + f".{k}={n}" for i in d["inputs"] for k, n in enumerate(i["shape"])
                if d["format"] == "mxnet" or not isinstance(i.get("declared_shape", i["shape"])[k], int)]
        graph = d["format"].startswith("tf") and d["format"] != "tflite"
        dims += [i["name"] + "=scalar" for i in d["inputs"] if not i["shape"] and graph]
        print(m.parent, d["file"], d.get("weights") or "-", outputs, ",".join(dims) or "-")' "$models" "$1" "$2"
}
[ $# -gt 0 ] || set -- $(list 0 "$most" | cut -d' ' -f1)
python3 "$models/run_models.py" --cmd "$tmp/arenac" --backend cuda-emu --sets 1 --timeout 600 --min-pass 1 "$@" ||
    status=1
ptxas=${PTXAS:-$(command -v ptxas || true)}
made=0 refused=0 spills=0
list 0 99000000000 >"$tmp/all"
while read -r dir file weights outputs dims; do
    for sm in 80 90; do
        set -- "$dir/$file"
        [ "$weights" = - ] || set -- "$@" "$dir/$weights"
        [ "$outputs" = - ] || set -- "$@" --outputs "$outputs"
        for d in $(echo "$dims" | tr ',' ' '); do
            [ "$d" = - ] || set -- "$@" --dim "$d"
        done
        rc=0
        "$arenac" compile -q "$@" -t cuda-sm$sm --emit ptx -o "$tmp/m.ptx" 2>"$tmp/err" || rc=$?
        grep -q 'needs NVRTC' "$tmp/err" && { echo "no NVRTC: nothing compiled"; exit $status; }
        case $rc in
        0) made=$((made + 1)) ;;
        8) refused=$((refused + 1)); continue ;;
        *) status=1; echo "FAILED ($rc): $dir sm_$sm"; head -5 "$tmp/err"; continue ;;
        esac
        [ -n "$ptxas" ] || continue
        if ! "$ptxas" -v -arch=sm_$sm "$tmp/m.ptx" -o "$tmp/m.cubin" 2>"$tmp/info"; then
            status=1
            echo "FAILED: ptxas $dir sm_$sm"
            head -3 "$tmp/info"
            continue
        fi
        awk -v dir="$(basename "$dir") sm_$sm" '
            /Compiling entry/ { name = $7 }
            / bytes spill stores/ && $5 > 0 { print "spills", dir, name, $5, "bytes" }' "$tmp/info" >"$tmp/spilled"
        cat "$tmp/spilled"
        spills=$((spills + $(wc -l <"$tmp/spilled")))
    done
done <"$tmp/all"
[ "$spills" = 0 ] || status=1
echo "$made compiled by NVRTC, $refused of unsupported models, $spills kernels spill registers"
exit $status
