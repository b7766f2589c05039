#!/bin/sh
# The picture, the page and the lock. usage: reports.sh ARENAC SOURCE_DIR
# The page is driven in headless Chromium ($CHROMIUM, chromium, chromium-browser or google-chrome) when there is one: search, every
# step's live set, every planner and a tensor, compared with the JSON report. Without one only that part is left out, with a message.
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
fail() { echo "FAILED: $*"; exit 1; }
exits() { # exits STATUS COMMAND...
    want=$1
    shift
    got=0
    "$@" >out.txt 2>err.txt || got=$?
    [ "$got" = "$want" ] || { cat out.txt err.txt; fail "exit $got instead of $want: $*"; }
}
has() { grep -q -e "$1" "$2" || { cat "$2"; fail "no '$1' in $2"; }; }

# --- lock and diff
m=$src/models/digits_int8.tflite
exits 3 "$arenac" plan -q "$m" --lock digits.lock
has 'update-lock' err.txt
exits 0 "$arenac" plan -q "$m" --lock digits.lock --update-lock
exits 0 "$arenac" plan -q "$m" --lock digits.lock
[ "$(sed -n '/^#/,$p' digits.lock | sed 1d)" = "$(sed -n '/^#/,$p' digits.lock | sed 1d | LC_ALL=C sort)" ] || fail "lock is not sorted"
"$arenac" plan -q "$m" --emit lock -o again.lock
cmp digits.lock again.lock
exits 6 "$arenac" plan -q "$m" --lock digits.lock --planner none
has 'E0602' err.txt
has "planner 'none'\|by 'none'" err.txt
exits 6 "$arenac" plan -q "$src/models/branch_int8.tflite" --lock digits.lock
has 'lock of another model' err.txt
printf 'no lock\n' >bad.lock
exits 1 "$arenac" plan -q "$m" --lock bad.lock
has 'E0020' err.txt
sed 's/ arena [0-9]* / arena x /' digits.lock >bad.lock
exits 1 "$arenac" plan -q "$m" --lock bad.lock
has 'bad.lock:[0-9]*:[0-9]*' err.txt
exits 2 "$arenac" plan -q "$m" --update-lock
exits 0 "$arenac" diff digits.lock "$m"
has 'graph   same' out.txt
exits 6 "$arenac" diff digits.lock "$m" --planner none
has '^arena .* -> .* B ' out.txt
has '^moved .* of .* tensors, largest' out.txt
exits 6 "$arenac" diff digits.lock "$m" --planner none --md
has '^| arena |' out.txt
exits 6 "$arenac" diff digits.lock "$m" --planner none --json
has '"schema": "arenac-diff/1"' out.txt
exits 6 "$arenac" diff digits.lock "$src/models/branch_int8.tflite"
has 'another model' out.txt
exits 3 "$arenac" diff digits.lock missing.tflite
exits 2 "$arenac" diff digits.lock

# --- models to look at: hostile names, an in-place and a zero-copy one, a thousand tensors
cat >hostile.ag <<'X'
graph hostile {
  input "</script><script>alert(1)</script>": f32[4,4]
  "a\"b'c&<!--": f32[4,4] = exp("</script><script>alert(1)</script>") "</title><img src=x>"
  "bad \xff\xfe\x01 utf": f32[4,4] = transpose("a\"b'c&<!--") perm=[1,0]
  "]]> ${x} \\u003c": f32[4,4] = softmax("bad \xff\xfe\x01 utf") beta=1
  output "]]> ${x} \\u003c"
}
X
awk 'BEGIN { print "id,lower,upper,size,alignment"; s = 7; for (i = 0; i < 1000; i++) { s = (s * 16807) % 2147483647; b = s % 990;
    s = (s * 16807) % 2147483647; print "t" i "," b "," b + 1 + s % 9 "," 1000 + s % 30000 ",64" } }' >thousand.csv

n=0
for f in "$src"/models/*_int8.tflite hostile.ag thousand.csv; do
    n=$((n + 1))
    "$arenac" plan -q "$f" --emit svg -o $n.svg
    "$arenac" plan -q "$f" --emit svg -o again.svg
    cmp $n.svg again.svg
    "$arenac" plan -q "$f" --emit html -o $n.html
    "$arenac" plan -q "$f" --emit json -o $n.json
    grep -q '<script' $n.svg && fail "script in the image of $f"
    [ "$(grep -c '</script>' $n.html)" = 2 ] || fail "a name ends the script of $f"
    grep -v 'http://www.w3.org' $n.html | grep -q 'https\{0,1\}://' && fail "$f: the page names an address"
    if command -v xmllint >/dev/null; then
        xmllint --noout $n.svg
    elif have python3 python3; then
        python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' $n.svg
    fi
done

# Without its data (about 300 bytes a tensor and planner) the page is small.
[ "$(wc -c <$n.html)" -lt 700000 ] || fail "the page of 1,000 tensors takes $(wc -c <$n.html) bytes"
sed -e '/id="plan-data"/,/^}/d' -e '/^<tr id=/d' -e '/<g id="t/,/<\/g>/d' -e '/class="hole"/d' -e '/class="pads"/d' $n.html >bare.html
[ "$(wc -c <bare.html)" -lt 150000 ] || fail "$(wc -c <bare.html) bytes beside the data"

# --- the page in a browser
chromium=
for c in "${CHROMIUM:-}" chromium chromium-browser google-chrome; do
    [ -z "$c" ] || ! command -v "$c" >/dev/null || { chromium=$c; break; }
done
[ "$chromium" ] || { missing chromium chromium; exit 0; }

cat >drive.js <<'X'
const wrong = [], same = (what, got, want) => { if (got !== want) wrong.push(what + ": " + got + ", not " + want); };
const byId = id => document.getElementById(id);
const text = t => t.name + " " + (t.dtype ? t.dtype + " " + t.shape : "");
const event = (e, type, more) => e.dispatchEvent(new MouseEvent(type, Object.assign({bubbles: true, cancelable: true}, more)));
const clickOn = e => { const b = e.getBoundingClientRect(); event(e, "click", {clientX: b.x + b.width / 2, clientY: b.y + b.height / 2}); };
const loaded = performance.now();
try {
    const tensors = J.tensors;
    for (const q of ["", "i8", "a", "relu", "[1,", "script", "\"", "zzz", tensors[0].name, "\ufffd"]) {
        byId("search").value = q;
        byId("search").dispatchEvent(new Event("input"));
        const want = q.trim() ? tensors.filter(t => text(t).toLowerCase().includes(q.trim().toLowerCase())).length : 0;
        same("hits of " + q, +byId("hits").dataset.count, want);
        same("marked " + q, document.querySelectorAll(".panel .hit").length, want);
    }
    byId("search").value = "";
    byId("search").dispatchEvent(new Event("input"));
    let clicked = 0;
    const last = Math.max(...tensors.map(t => t.last_step));
    for (let s = 0; s <= last; s++) {
        const tick = [...document.querySelectorAll("#x > text")].find(e => e.textContent === "" + s);
        if (tick) { clickOn(tick); clicked++; }
        else { byId("step").value = s; byId("step").dispatchEvent(new Event("input")); }
        const got = [...document.querySelectorAll("#live tbody tr")].map(r => +r.dataset.t).sort((a, b) => a - b).join();
        same("live set of step " + s, got, tensors.map((t, i) => t.memory && t.first_step <= s && s <= t.last_step ? i : -1).filter(i => i >= 0).join());
        if (J.steps.length) same("live bytes of step " + s, +byId("live-sum").dataset.bytes, J.steps[s].live_bytes);
    }
    same("steps clicked", clicked > 0, true);
    for (let i = 0; i < tensors.length; i += Math.ceil(tensors.length / 20)) {
        const shape = document.querySelector("#t" + i + " rect");
        if (!shape) continue;
        clickOn(shape);
        same("selected", document.querySelector(".panel .sel").id, "t" + i);
        same("producer lit", document.querySelectorAll("#m0 .from").length, tensors[i].producer_step === null ? 0 : 1);
        same("consumers lit", document.querySelectorAll("#m0 .to").length, tensors[i].consumer_steps.length);
        same("shown", byId("tensor-view").querySelector("h2").textContent, tensors[i].name);
    }
    const slider = byId("planner");
    const bytes = {};
    for (const p of J.plan.strategies) bytes[p.strategy] = p.arena_bytes;
    for (let k = 0; k <= +slider.max; k++) {
        slider.value = k;
        slider.dispatchEvent(new Event("input"));
        const said = byId("planner-name").textContent.split(/\s+/);
        same("arena of " + said[0], +said[1].replace(/,/g, ""), k ? bytes[said[0]] : J.plan.arena_bytes);
    }
    slider.value = 0;
    slider.dispatchEvent(new Event("input"));
    tensors.forEach((t, i) => {
        const cell = document.querySelector("#r" + i + " .at");
        if (cell) same("address of " + t.name, cell.textContent.split("-")[0], "0x" + t.offset_bytes.toString(16));
    });
    for (const key of ["+", "+", "ArrowRight", "ArrowUp", "ArrowDown", "p", "-", "0", "Home", "End"])
        byId("picture").dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
    same("step after End", +byId("step").value, last);
    byId("theme").click();
    same("things fetched", performance.getEntriesByType("resource").length, 0);
} catch (e) { wrong.push(e.stack); }
document.body.innerHTML = "<pre id=verdict></pre>";
byId("verdict").textContent = wrong.length ? "WRONG " + wrong.slice(0, 10).join("\n") : "ALL RIGHT " + Math.round(loaded) + " ms";
X

page() { # page N: appends the driver with the JSON report and runs it
    { cat "$1.html"; echo '<script>const J ='; sed 's/</\\u003c/g' "$1.json"; echo ';'; cat drive.js; echo '</script>'; } >"drive$1.html"
    timeout 120 "$chromium" --headless --no-sandbox --disable-gpu --user-data-dir="$tmp/profile" --enable-logging=stderr \
        --window-size=1400,900 --dump-dom "file://$tmp/drive$1.html" >dom.txt 2>log.txt || { cat log.txt; fail "browser"; }
    sed -n '/<pre id="verdict">/,/<\/pre>/p' dom.txt | sed 's/<[^>]*>//g'
    grep -q 'ALL RIGHT' dom.txt || fail "page $1"
    if grep 'CONSOLE' log.txt; then fail "page $1 writes to the console"; fi
}
i=0
while [ $i -lt $n ]; do
    i=$((i + 1))
    page $i
done
