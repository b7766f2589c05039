#!/bin/sh
# plan --watch plans again when a file of the model changes, and after an error; --open shows the page that was written.
# usage: watch.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"

# within SECONDS TEXT FILE: the text appears in the file
within() {
    n=0
    until grep -q -e "$2" "$3" 2>/dev/null; do
        n=$((n + 1))
        [ $n -gt $(($1 * 20)) ] && { fail "no '$2' in $3"; cat "$3"; return; }
        sleep 0.05
    done
}

cat >m.ag <<'END'
graph m {
  input x: f32[1,8]
  y: f32[1,8] = tanh(x)
  z: f32[1,8] = add(y, x)
  output z
}
END
"$arenac" plan m.ag -q || die "the model of this test is wrong"
"$arenac" plan m.ag --watch --emit html >out 2>err &
watcher=$!
within 20 'watching m.ag' err
grep -q '<body data-watch>' m.html || fail "the page does not reload itself"
sed 's/1,8]/1,80]/' m.ag >bigger && cp bigger m.ag
within 20 'arena: 320 B, before 32 B' err
echo nonsense >m.ag
within 20 'error\[E' err
sed 's/1,80/1,4/' bigger >m.ag
within 20 'arena: 16 B, before 320 B' err
[ "$(grep -c 'RAM  arena' out)" = 3 ] || { fail "three reports"; cat out; }
kill $watcher
wait $watcher 2>/dev/null
"$arenac" plan m.ag --emit html -q
grep -q '<body data-watch>' m.html && fail "a page reloads itself without --watch"
expect 2 'needs a file' "$arenac" plan - --watch <m.ag

# --open: by the program of the system, here one that says what it is given
[ "$(uname)" = Linux ] || exit 0
mkdir bin
printf '#!/bin/sh\necho "$1" >%s/shown\n' "$tmp" >bin/xdg-open
chmod +x bin/xdg-open
rm -f m.html
PATH=$tmp/bin:$PATH expect 0 '' "$arenac" plan m.ag --open
grep -q '^m.html$' shown || fail "--open does not show the page"
grep -q 'plan-data' m.html || fail "--open writes no page"
printf '#!/bin/sh\nexit 3\n' >bin/xdg-open
PATH=$tmp/bin:$PATH expect 0 'open m.html in one' "$arenac" plan m.ag --open
PATH=$tmp/bin:$PATH expect 0 'no page to show' "$arenac" plan m.ag --open --emit csv
