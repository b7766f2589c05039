#!/bin/sh
# Kernels that start before the one before them has ended: in machine code nothing of the arena or the state is loaded
# or stored above the wait, every kernel waits, and none can end before. Asynchronous copies keep their place: those
# above the wait are of weights, which cuda-race checks; LDGDEPBAR ends a group of them. Needs NVRTC and nvdisasm, no
# GPU.
# usage: cuda_order.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
nvdisasm=${NVDISASM:-$(command -v nvdisasm || ls "${VIRTUAL_ENV:-/usr}"/lib/python3*/*-packages/nvidia/*/bin/nvdisasm \
    2>/dev/null | head -1)}
[ -n "$nvdisasm" ] || { missing nvdisasm "nvidia-cuda-nvdisasm from PyPI"; exit 77; }

# faults SASS: lines that break the rule; the last one counts the kernels
faults() {
    awk '
        function done() { if (kernel && !waits) print kernel ": does not wait" }
        /^[A-Za-z_][A-Za-z0-9_]*:$/ { done(); kernel = substr($1, 1, length($1) - 1); waits = 0; n++ }
        $2 ~ /^@/ { $2 = "" ; $0 = $0 }
        !kernel || waits { next }
        $2 ~ /^ACQBULK/ { waits = 1 }
        $2 ~ /^EXIT/ { print kernel ": may end before the wait" }
        $2 ~ /^(STG|RED|ATOM|UTMALDG|UBLKCP)/ || ($2 ~ /^LDG/ && $2 !~ /^LDGSTS|^LDGDEPBAR|CONSTANT/) {
            print kernel ":", $2, "above the wait"
        }
        END { done(); print n + 0, "kernels" }' "$1"
}

cat >writes.ag <<'EOG'
graph writes {
  input x: f32[1,64]
  input i: i32[4]
  const w: f32[48,64] = random 3
  const t: f32[16,48] = random 4
  h = fully_connected(x, w)
  r = fully_connected(h, t)
  p = softmax(r)
  e = gather(t, i)
  z = concatenation(e, e) axis=0
  output p, z
}
EOG
for m in "$models"/dsnet_f32.tflite "$models"/branch_int8.tflite writes.ag; do
    "$arenac" compile -q "$m" -t cuda-sm90 --emit cubin -o m.cubin 2>err ||
        {
            ! grep -q 'needs NVRTC' err || { missing NVRTC "nvidia-cuda-nvrtc-cu12 from PyPI"; exit 77; }
            cat err
            die "$m"
        }
    "$nvdisasm" -c m.cubin >m.sass 2>err || { cat err; die "$m: nvdisasm"; }
    faults m.sass >found
    [ "$(wc -l <found)" = 1 ] && grep -q '^[1-9][0-9]* kernels$' found || { cat found; die "$m"; }
done
awk '/ACQBULK/ { wait = $0; next } { print } wait && / LDG/ { print wait; wait = "" }' m.sass >moved
faults moved | grep -q 'LDG.* above the wait' || die "a load above the wait is not found"
sed 's/ACQBULK/NOP/' m.sass >without
faults without | grep -q 'does not wait' || die "a kernel without a wait is not found"
