#!/bin/sh
# Objects contain the multiply-add instructions of their machine, by name and kind of register. usage: instructions.sh
# ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_llvm || exit 77
has() { # MODEL TARGET PATTERN...: each matches some instruction of the code
    model=$1 target=$2
    shift 2
    if ! "$arenac" compile -q "$models/$model.tflite" -t "$target" $options --emit s -o m.s; then
        fail "$model for $target"
        return
    fi
    for p in "$@"; do
        grep -qE "^[[:space:]]+$p" m.s || fail "no $p in $model for $target"
    done
}
options=
# x86: four bytes, pairs of 16 bits, one instruction to narrow with saturation, fused multiply-add of every width
has dsnet_int8 x86-64-v4-vnni 'vpdpbusd.*%zmm' 'vpmuldq.*%zmm' 'vpmovsdb.*%zmm'
has dsnet_int8 x86-64-v3-vnni '\{vex\}[[:space:]]+vpdpbusd.*%ymm'
has dsnet_int8 x86-64-v4 'vpmaddwd.*%zmm'
has dsnet_int8 x86-64-v3 'vpmaddwd.*%ymm' 'vpmuldq.*%ymm'
has dsnet_int8 x86-64-v2 'pmaddwd.*%xmm'
has dsnet_int8 x86-64-v4-amx 'ldtilecfg' 'tdpbssd.*%tmm' 'tilestored' 'tilerelease'
options="--float-storage bf16"
has dsnet_f32 x86-64-v4-bf16 'vcvtneps2bf16.*%zmm'
has dsnet_f32 avx10.1 'vcvtneps2bf16.*%zmm'
options=
has dsnet_f32 x86-64-v4 'vfmadd[0-9]+ps.*%zmm'
has dsnet_f32 x86-64-v3 'vfmadd[0-9]+ps.*%ymm'
# Arm: NEON, dot products, I8MM, SVE
has dsnet_int8 aarch64 'smlal.*\.4s, v.*\.4h' 'sm(ull|lal).*\.2d, v.*\.2s'
has dsnet_f32 aarch64 'fmla.*\.4s'
has dsnet_int8 aarch64-dotprod 'sdot.*v[0-9]+\.4s, v[0-9]+\.16b'
has dsnet_int8 aarch64-i8mm 'sdot.*v[0-9]+\.4s, v[0-9]+\.16b' 'usdot.*v[0-9]+\.4s, v[0-9]+\.16b'
has dsnet_int8 aarch64-sve256 'sdot.*z[0-9]+\.s, z[0-9]+\.b'
has dsnet_f32 aarch64-sve256 'fm(la|ad).*z[0-9]+\.s, p[0-9]+/m, z[0-9]+\.s'
has dsnet_int8 neoverse-v1 'usdot.*z[0-9]+\.s, z[0-9]+\.b'
# Cortex-M: 16 x 16 bits, in functions for all channels or a single row, MVE's products with a scalar, and its sums
# across a register
call='bl[[:space:]]+'
has dsnet_int8 cortex-m4 'smla[bt][bt]' "${call}dsnet_int8_rows_2x4_17" "${call}dsnet_int8_planes_3x3"
has digits_int8 cortex-m4 "${call}digits_int8_tile_row_1x4"
has dsnet_int8 cortex-m55-mve 'vmla\.[iu]32[[:space:]]+q'
has dsnet_int8 cortex-m55 'vmladava|vmlava'
# RISC-V: two pixels in a word; vectors, WebAssembly
has dsnet_int8 rv32imac 'mulh' 'call[[:space:]]+dsnet_int8_rows_4x4'
has dsnet_int8 rv64gcv 'vwmacc\.vx'
has dsnet_f32 rv64gcv 'vfmacc\.vf'
has dsnet_int8 rv32imac-zve32x 'vwmacc\.vx' 'vwmacc\.vv' 'vsmul\.vv' 'vssra\.vv'
has dsnet_int8 wasm32 'i32x4\.dot_i16x8_s'
has dsnet_f32 wasm32 'f32x4\.mul'
