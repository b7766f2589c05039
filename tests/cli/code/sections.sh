#!/bin/sh
# Memories as docs/memories.md shows them have no bytes in the image: its C and its lines of a linker script, as they
# are there, are compiled and linked for a Cortex-M4. usage: sections.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require arm-none-eabi-gcc gcc-arm-none-eabi
block() { # LANGUAGE: the block of the page
    awk -v begin='```'"$1" '$0 == begin { on = 1; next } /^```/ { on = 0 } on' "$src/docs/memories.md"
}
"$arenac" compile -q "$models/dsnet_int8.tflite" -t cortex-m4 --name m --mem dtcm:2K,fast --mem psram:8M,slow \
    --weights rodata -o m.c
grep -q '^#define M_PSRAM_BYTES [1-9]' m.h || die "everything is in one memory"
{
    echo '#include "m.h"'
    block c
    echo 'int main(void) { return m_init(&mem) != M_OK || m_run(&mem) != M_OK; }'
} >main.c
grep -q 'section(' main.c || die "docs/memories.md shows no section"
{
    cat <<'END'
ENTRY(main)
MEMORY { FLASH : ORIGIN = 0, LENGTH = 4M RAM : ORIGIN = 0x20000000, LENGTH = 4K DTCM : ORIGIN = 0x30000000, LENGTH = 64K
    PSRAM : ORIGIN = 0x60000000, LENGTH = 8M }
SECTIONS {
.text : { *(.text*) *(.rodata*) *(.ARM.*) } > FLASH
END
    block ld
    echo '.data : { *(.data*) } > RAM AT> FLASH
.bss : { *(.bss*) *(COMMON) } > RAM
}'
} >script.ld
for c in arm-none-eabi-gcc clang; do
    have $c $c || continue
    case $c in clang) target=--target=thumbv7em-none-eabi ;; *) target= ;; esac
    # shellcheck disable=SC2086
    "$c" $target -mcpu=cortex-m4 -mthumb -ffreestanding -std=c11 -O1 -c main.c -o main.o || die "$c"
    arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -O1 -c m.c -o m.o
    arm-none-eabi-gcc -mcpu=cortex-m4 -mthumb -nostdlib -Wl,--no-warn-rwx-segments -T script.ld main.o m.o -lgcc \
        -o m.elf ||
        die "$c: does not link"
    for section in dtcm psram; do
        arm-none-eabi-readelf -SW main.o | grep -q "\\.bss\\.$section  *NOBITS" || die "$c: .bss.$section has bytes"
        arm-none-eabi-readelf -SW m.elf | grep -q " \\.$section  *NOBITS" || die "$c: .$section has bytes"
    done
done
