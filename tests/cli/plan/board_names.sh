#!/bin/sh
# --board: each board of the table plans like the options that the list prints for it; a target and a memory that are
# given win. Unknown boards, and chips as targets, get the way out. usage: board_names.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"

"$arenac" targets --boards >boards.txt || fail "no list"
[ "$(grep -c '^[a-z]' boards.txt)" -ge 60 ] || fail "fewer than 60 boards"
while read -r name rest && read -r options; do
    "$arenac" plan -q "$models/dsnet_int8.tflite" --board "$name" --json >board.json || fail "board $name"
    # shellcheck disable=SC2086
    "$arenac" plan -q "$models/dsnet_int8.tflite" $options --json >options.json || fail "$options"
    cmp -s board.json options.json || fail "$name ($rest) is not $options"
done <boards.txt

expect 0 '"target": "cortex-m3"' "$arenac" plan -q "$models/dsnet_int8.tflite" --board pico -t cortex-m3 --json
expect 0 '"target": "cortex-m3"' "$arenac" plan -q "$models/dsnet_int8.tflite" -t cortex-m3 --board pico --json
expect 4 'E0401' "$arenac" plan -q "$models/dsnet_int8.tflite" --mem sram:1K --board pico
expect 2 "did you mean 'nucleo-h743zi'" "$arenac" plan "$models/dsnet_int8.tflite" --board nucleo-h743
expect 2 '--board nucleo-f' "$arenac" plan "$models/dsnet_int8.tflite" -t stm32f4
expect 2 'it is a board: --board pico' "$arenac" plan "$models/dsnet_int8.tflite" -t pico
expect 2 '-t aarch64 is the target for Cortex-A53' "$arenac" plan "$models/dsnet_int8.tflite" -t Cortex-A53
expect 2 '-t generic is the target for esp32' "$arenac" plan "$models/dsnet_int8.tflite" -t esp32
sed -n 's/^WORD("\([^"]*\)", *"\(.*\)")/\1 \2/p' "$src/driver/request/target_words.def" >words.txt
"$arenac" targets | sed 's/ .*//' >targets.txt
while read -r word target; do
    grep -qxF "$target" targets.txt || fail "the word $word is answered with $target, which is not a target"
    ! grep -qxF "$word" targets.txt || fail "the word $word is a target"
done <words.txt
[ "$(wc -l <words.txt)" -ge 50 ] || fail "few words"
expect 2 '--board esp32-s3' "$arenac" plan "$models/dsnet_int8.tflite" -t esp32s3
