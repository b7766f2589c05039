#!/bin/sh
# A signal that ends arenac leaves nothing unfinished, and is what its parent sees; a file size limit and a full disk
# are errors; outputs are on disk before they appear, links are followed, devices written in place.
# usage: signals.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require "${CC:-cc}" gcc
require python3 python3
"${CC:-cc}" -shared -fPIC -O1 -o faults.so "$src/tests/cli/plan/io_faults.c" -ldl 2>cc.txt ||
    { echo "skipped: the C compiler makes no shared library"; exit 77; }
m=$models/branch_int8.tflite
mkdir out tmp
export TMPDIR="$tmp/tmp"
nothing() { [ -z "$(find out tmp -mindepth 1)" ] || fail "$1 leaves $(find out tmp -mindepth 1)"; }

# send.py SIGNAL command...: the signal arrives when the file `mark` is there; did it end the command?
cat >send.py <<'P'
import os, signal, subprocess, sys, time
number = getattr(signal, sys.argv[1])
env = {**os.environ, "MARK": "mark"}
p = subprocess.Popen(sys.argv[2:], env=env, preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
while p.poll() is None and not os.path.exists("mark"):
    time.sleep(0.01)
p.send_signal(number)
status = p.wait()
print("status", status)
sys.exit(status != -number)
P
signalled() { # SIGNAL FAULT command...
    sig=$1 fault=$2
    shift 2
    rm -f mark
    python3 send.py "$sig" env LD_PRELOAD="$tmp/faults.so" FAULT="$fault" "$@" >out.txt 2>err.txt ||
        fail "$sig at $fault: $(cat out.txt err.txt)"
}
for sig in SIGINT SIGTERM SIGHUP; do
    for fault in write:1 write:2 fsync:1 fsync:2; do # of the first file, or the second
        signalled $sig $fault:wait "$arenac" compile "$m" -q -o out/v
        nothing "$sig at $fault"
    done
    signalled $sig rename:1:wait "$arenac" compile "$m" -q -o out/v
    [ "$(ls -A out | tr '\n' ' ')" = 'v.c v.h ' ] || fail "$sig while files appear: $(ls -A out)"
    rm -f out/*
done
# a folder for a compiler, which has begun
cat >cc.sh <<'C'
#!/bin/sh
touch "$MARK"
sleep 1
C
chmod +x cc.sh
signalled SIGTERM none env CC="$tmp/cc.sh" "$arenac" run "$m" --random 1 --backend c
sleep 1.5
nothing 'SIGTERM during run'
# signals ignored from the start stay ignored
rm -f mark
(trap '' HUP && MARK=mark FAULT=write:1:wait LD_PRELOAD=$tmp/faults.so "$arenac" compile "$m" -q -o out/v) &
while [ ! -e mark ] && kill -0 $! 2>/dev/null; do sleep 0.1; done
kill -HUP $!
wait $! || fail "SIGHUP was ignored, and ends it"
[ -e out/v.c ] || fail "SIGHUP was ignored, and there is no file"
rm -f out/*

# temporary folders of killed processes go with the next run: old ones of this user, and nothing else
mkdir left kept
cat >killer <<'X'
#!/bin/sh
kill -9 $PPID
X
chmod +x killer
folders() { find left -mindepth 1 -maxdepth 1 | sort | tr '\n' ' '; }
TMPDIR=$tmp/left CC=$tmp/killer "$arenac" run -q "$m" --random 1 2>/dev/null
first=$(folders)
case $first in left/arenac-[0-9]*-?????? | left/arenac-[0-9]*-??????\ ) ;; *) fail "a killed run left '$first'" ;; esac
TMPDIR=$tmp/left "$arenac" run -q "$m" --random 1 >/dev/null || fail "beside a young folder"
[ "$(folders)" = "$first" ] || fail "a young folder is swept"
touch kept/file
ln -s ../kept left/arenac-999999999-abcdef
mkdir left/arenac-$$-abcdef left/arenac-999999999-abc left/arenac-999999998-abcdef left/arenac-999999998-abcdef/folder
touch -h -d '2 hours ago' left/* kept
others=$(folders | sed "s|$first||")
TMPDIR=$tmp/left "$arenac" run -q "$m" --random 1 >/dev/null || fail "beside old folders"
[ "$(folders)" = "$others" ] && [ -e kept/file ] || fail "$(folders), not $others"

# a limit, by the shell (in blocks of 512 or 1024 bytes), and full disks
said=err.txt
expect 3 'out/v.c: error\[E0302\]: cannot write: File too large' sh -c "ulimit -f 8; '$arenac' compile '$m' -q -o out/v"
nothing 'the limit'
sh -c "ulimit -f 8; '$arenac' compile '$m' -q --emit c -o -" >out/v 2>err.txt
[ "$(wc -c <out/v)" -le 8192 ] || fail "no limit"
rm -f out/v
for fault in open:2:28 open:3:28 write:1:28 write:2:28 write:2:5 fsync:1:28 fsync:2:5 close:2:28; do # 1: of an input
    expect 3 'out/v.[ch]: error\[E0302\]: cannot write: \(No space\|Input/output\)' \
        env FAULT=$fault LD_PRELOAD="$tmp/faults.so" "$arenac" compile "$m" -q -o out/v
    nothing "$fault"
done
expect 3 'out/v.h: error.*cannot write: No space' \
    env FAULT=rename:2:28 LD_PRELOAD="$tmp/faults.so" "$arenac" compile "$m" -q -o out/v
nothing 'the second rename'

# every file is on disk before it appears, then its folder
env COUNT=count LD_PRELOAD="$tmp/faults.so" "$arenac" compile "$m" -q -o out/v
grep -q 'fsync 3' count || fail "not all is flushed: $(grep fsync count)"
rm -f out/*

# links, also dangling ones, stay links
ln -s real.c out/v.c
ln -s ../out/v.c out/w.c
"$arenac" compile "$m" -q --emit c -o out/w.c || fail "no link"
[ -h out/w.c ] && [ -h out/v.c ] && [ -s out/real.c ] || fail "links: $(ls -l out)"
"$arenac" compile "$m" -q --emit c -t cortex-m4 -o out/w.c || fail "no link"
[ -h out/w.c ] && [ -h out/v.c ] && grep -q cortex-m4 out/real.c || fail "links: $(ls -l out)"
rm -f out/*
ln -s nowhere/v.c out/v.c
expect 3 'out/v.c: error.*No such file' "$arenac" compile "$m" -q --emit c -o out/v.c
ln -sf v.c out/v.c
expect 3 'out/v.c: error.*symbolic links' "$arenac" compile "$m" -q --emit c -o out/v.c
rm -f out/*

# a device takes all outputs, one after the other, and no file appears next to it
ln -s /dev/full out/full
expect 3 'out/full: error\[E0302\]: cannot write: No space left' "$arenac" compile "$m" -q -o out/full
expect 3 'out/full: error\[E0302\]' "$arenac" compile "$m" "$models/gate.ag" --share exclusive -q -o out/full
expect 3 'out/full: error\[E0302\]' "$arenac" convert "$m" out/full --emit ag
[ "$(ls -A out)" = full ] || fail "files beside a device: $(ls -A out)"
expect 0 '' "$arenac" compile "$m" -q -o /dev/null
mkfifo out/pipe
timeout 20 cat out/pipe >piped.txt &
expect 0 '' "$arenac" compile "$m" -q -o out/pipe
wait $!
"$arenac" compile "$m" -q -o - >plain.txt
cmp plain.txt piped.txt || fail "a pipe gets something else than standard output"
exit $bad
