#!/bin/sh
# --progress: long steps report on standard error: lines with `on`; on a terminal a bar that disappears before anything
# else is printed; nothing with `off`, -q, or `auto` without a terminal; results are the same. usage: progress.sh ARENAC
# SOURCE_DIR
. "$2/tests/cli/prelude"
require "${CC:-cc}" gcc
require python3 python3
m=$models/digits_int8.tflite
printf '#!/bin/sh\nsleep 4\nexec %s "$@"\n' "${CC:-cc}" >slow.sh
chmod +x slow.sh
export CC=./slow.sh TERM=xterm
"$arenac" run "$m" --random 1 --progress on >on.txt 2>err.txt || fail "run"
grep -qx 'arenac: the host compiler' err.txt || { cat err.txt; fail "no line"; }
for o in "--progress off" "--progress auto" "-q --progress on"; do
    # shellcheck disable=SC2086
    "$arenac" run "$m" --random 1 $o >off.txt 2>err.txt || fail "run $o"
    [ ! -s err.txt ] || { cat err.txt; fail "$o says something"; }
    [ ! -s off.txt ] || cmp -s on.txt off.txt || fail "$o prints something else"
done
python3 - "$arenac" "$m" <<'X' || fail "on a terminal"
import os, pty, subprocess, sys
end, terminal = pty.openpty()
p = subprocess.Popen([sys.argv[1], "run", sys.argv[2], "--random", "1"], stdout=terminal, stderr=terminal)
os.close(terminal)
text = b""
while True:
    try:
        more = os.read(end, 4096)
    except OSError:
        break
    if not more:
        break
    text += more
assert p.wait() == 0
assert b"the host compiler, " in text, text
last = text.rindex(b"\r\x1b[K")
assert b"compiler" not in text[last:] and b"output 0" in text[last:], text
X
expect 2 "did you mean 'on'" "$arenac" plan "$m" --progress onn
