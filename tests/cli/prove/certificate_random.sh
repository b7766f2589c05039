#!/bin/sh
# arenac-certcheck on random functions whose buffers share bytes, executed by tests/certificates.py. With the shared
# folder: on its wrong certificates, and on some mutants, executed by its oracle.
# usage: certificate_random.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
certcheck=$(dirname "$arenac")/arenac-certcheck
have python3 python3 || exit 77
python3 "$src/tests/certificates.py" "$certcheck" 800 || fail "random functions"

shared=$src/../shared/certificates
[ -d "$shared" ] || { echo "skipped: certificates of the shared folder"; exit $bad; }
for f in "$shared"/*.cert; do
    "$certcheck" "$f" >verdict.txt
    case $(basename "$f"):$(head -n 1 verdict.txt) in
    right.cert:VALID*) ;;
    right.cert:* | *:VALID*) fail "$f: $(cat verdict.txt)" ;;
    esac
done
# Its mutator limits the address space, and a sanitizer reserves terabytes.
sanitized && { echo "skipped: mutants, with a sanitizer"; exit $bad; }
for base in "$src/tests/golden/c/tiles.ag cortex-m55" "$src/tests/golden/c/inplace-apart.ag x86-64-v4-vnni" \
    "$src/tests/golden/c/stripe.ag cortex-m4"; do
    "$arenac" prove "${base% *}" -t "${base##* }" -o "$(basename "${base% *}").cert" >/dev/null || fail "prove $base"
done
for typed in 0 1; do
    CERTCHECK=$certcheck python3 "$shared/mutate.py" -n 60 -s $typed -t 10 -o "mutants$typed" \
        $([ $typed = 0 ] || echo "-w 1") ./*.ag.cert >mutants.txt 2>&1 || fail "mutants: $(cat mutants.txt)"
done
CERTCHECK=$certcheck python3 "$shared/genmem.py" 1 2 mutants2 >mutants.txt 2>&1 || fail "functions: $(cat mutants.txt)"
for f in mutants?/unsound-* mutants?/crash-* mutants?/hang-* mutants?/mem-*; do
    [ ! -f "$f" ] || fail "$f: $(grep "$(basename "$f")" mutants?/report.txt)"
done
exit $bad
