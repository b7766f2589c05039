#!/bin/sh
# `-o -`: standard output contains only the output: each kind is read by its own parser. If the reader stops early,
# there is no message, and files are still written. usage: streams.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
m=$models/branch_int8.tflite

# out KIND VERB OPTION...: the kind, on standard output, without a word on the other
out() {
    kind=$1 verb=$2
    shift 2
    "$arenac" "$verb" "$m" --emit "$kind" -o - "$@" >"out.$kind" 2>err.txt || fail "$verb --emit $kind -o -"
    [ ! -s err.txt ] || { cat err.txt; fail "$verb --emit $kind -o - says something"; }
}
for kind in json svg html md dot csv problem lock ag loops; do out $kind plan; done
for kind in c h blob; do out $kind compile; done
out selftest compile --random 1
for kind in tflite tflm-buffer-plan; do out $kind plan; done
out cu compile -t cuda-sm80
# an output of several files is refused, and writes none
for kind in rt zephyr espidf arduino platformio cmsis-pack cmake make; do
    expect 2 "emit $kind writes .*name .* with -o" "$arenac" compile "$m" --emit $kind -o -
    [ ! -s out.txt ] && [ ! -e arn_rt.h ] && [ ! -e src ] || fail "--emit $kind -o - writes something"
done

if have python3 python3; then
    python3 - "$src" <<'X' || fail "a parser of Python does not read what it should"
import csv, html.parser, json, xml.dom.minidom
report = json.load(open("out.json"))
assert report["schema"] == "arenac-report/1" and report["plan"]["arena_bytes"] > 0
xml.dom.minidom.parse("out.svg")
plan, problem = (list(csv.DictReader(open("out." + k))) for k in ("csv", "problem"))
assert len(plan) == len(problem) > 5 and all(int(r["offset"]) >= 0 for r in plan)
assert {r["id"] for r in plan} == {r["id"] for r in problem}
rows = [r for r in open("out.md").read().splitlines() if r.startswith("|")]
assert len(rows) > 10 and all(r.endswith("|") for r in rows)

class Page(html.parser.HTMLParser):
    VOID = {"meta", "br", "input", "hr", "link", "img", "col", "wbr"}
    def __init__(self):
        super().__init__()
        self.open, self.svg = [], False
    def handle_starttag(self, tag, attrs):
        self.svg |= tag == "svg"
        if tag not in self.VOID:
            self.open.append(tag)
    def handle_startendtag(self, tag, attrs):
        pass
    def handle_endtag(self, tag):
        while self.open[-1] != tag:  # whose end may be left out
            assert self.open.pop() in {"tr", "td", "th", "li", "p"}, tag
        self.open.pop()

def table(b, at):
    """A table of a flatbuffer: where its field is, by number."""
    v = at - int.from_bytes(b[at:at + 4], "little", signed=True)
    size = int.from_bytes(b[v:v + 2], "little")
    offs = [int.from_bytes(b[v + i:v + i + 2], "little") for i in range(4, size, 2)]
    return {i: at + o for i, o in enumerate(offs) if o}

def follow(b, at):
    return at + int.from_bytes(b[at:at + 4], "little")

def items(b, at):
    at = follow(b, at)
    return [follow(b, at + 4 + 4 * i) for i in range(int.from_bytes(b[at:at + 4], "little"))]

b = open("out.tflite", "rb").read()
assert b[4:8] == b"TFL3"
model = table(b, follow(b, 0))  # version, operator codes, subgraphs, description, buffers, metadata_buffer, metadata
assert int.from_bytes(b[model[0]:model[0] + 4], "little") == 3
named = {}
for entry in items(b, model[6]):
    f = table(b, entry)
    s = follow(b, f[0])
    name = b[s + 4:s + 4 + int.from_bytes(b[s:s + 4], "little")].decode()
    named[name] = int.from_bytes(b[f[1]:f[1] + 4], "little") if 1 in f else 0
at = follow(b, table(b, items(b, model[4])[named["OfflineMemoryAllocation"]])[0])
n = int.from_bytes(b[at:at + 4], "little")
words = [int.from_bytes(b[i:i + 4], "little", signed=True) for i in range(at + 4, at + 4 + n, 4)]
tensors = len(items(b, table(b, items(b, model[2])[0])[0]))
assert words[:3] == [1, 0, tensors] and len(words) == 3 + tensors and max(words[3:]) > 0, words
page = Page()
page.feed(open("out.html").read())
assert page.svg and not page.open
X
fi
if have dot graphviz; then
    dot -Tplain out.dot >plain.txt && grep -q '^node' plain.txt || fail "dot does not read the graph"
fi
expect 0 'safe' "$arenac" verify out.csv out.problem
cp out.problem p.csv
expect 0 'arena' "$arenac" plan p.csv
expect 0 '' "$arenac" plan -q "$m" --lock out.lock
cp out.ag again.ag
expect 0 'fine' "$arenac" check again.ag
if have "${CC:-cc}" gcc; then
    cp out.c branch_int8.c && cp out.h branch_int8.h && cp out.selftest self.c
    cp out.tflm-buffer-plan plan.h && echo '#include "plan.h"
int count(void) { return branch_int8_buffer_plan.buffer_count; }' >tflm.c
    for f in branch_int8.c self.c tflm.c; do
        ${CC:-cc} -std=c99 -fsyntax-only -Wall -Wextra -I. $f || fail "$f does not compile"
    done
    mkdir gpu
    "$arenac" compile -q "$m" -t cuda-sm80 --emit h -o - >gpu/branch_int8.h && cp out.cu gpu &&
        ${CC:-cc} -std=c11 -fsyntax-only -Wall -Wextra -I"$src/runtime" -x c gpu/out.cu || fail "the host part of cu"
fi
backend=
if [ -e "$(dirname "$arenac")/arenac-llvm.so" ]; then
    backend="o s ll bc"
    for kind in $backend; do out "$kind" compile; done
    nm out.o | grep -q ' T branch_int8_run' || fail "no run in the object"
    ${CC:-cc} -c -x assembler out.s -o from_s.o && nm from_s.o | grep -q ' T branch_int8_run' || fail "the assembler"
    if have llvm-as-19 llvm-19; then
        llvm-as-19 out.ll -o from_ll.bc && llvm-dis-19 out.bc -o from_bc.ll &&
            grep -q 'define .*@branch_int8_run(' from_bc.ll || fail "LLVM does not read its own"
    fi
fi
gpu=
if "$arenac" compile -q "$m" -t cuda-sm80 --emit ptx -o - >out.ptx 2>err.txt; then
    gpu="ptx cubin"
    out ptx compile -t cuda-sm80
    out cubin compile -t cuda-sm80
    ! command -v ptxas >/dev/null || ptxas -arch=sm_80 out.ptx -o from_ptx.cubin || fail "ptxas"
    grep -q '^\.target sm_80' out.ptx && grep -q '^\.visible \.entry ' out.ptx || fail "no PTX"
    readelf -h out.cubin | grep -q 'Machine:.*\(CUDA\|190\|0xbe\)' || fail "no image for a GPU"
fi
# intervals that no bound explains, and their certificate: read by the program that replays it
printf 'id,lower,upper,size,alignment\n' >hard.csv
printf '%s\n' t0,4,6,5,1 t1,1,4,1,4 t2,4,6,2,4 t3,4,7,1,8 t4,1,4,8,8 t5,1,2,4,1 t6,0,1,9,1 t7,5,7,2,4 >>hard.csv
"$arenac" plan hard.csv --planner exact --emit certificate -o - >out.certificate 2>err.txt && [ ! -s err.txt ] ||
    fail "--emit certificate"
expect 0 'VALID no plan of 13 bytes' "$(dirname "$arenac")/arenac-certcheck" hard.csv out.certificate

# no kind is without a reader above
"$arenac" plan "$m" --emit nosuch 2>&1 | sed -n 's/.*available: //p' | tr , '\n' >kinds.txt
[ "$(wc -l <kinds.txt)" -gt 30 ] || fail "the kinds are not listed"
[ -n "$backend" ] || sed -i '/^\(o\|s\|ll\|bc\)$/d' kinds.txt
[ -n "$gpu" ] || sed -i '/^\(ptx\|cubin\)$/d' kinds.txt
while read -r kind; do
    case $kind in rt | zephyr | espidf | arduino | platformio | cmsis-pack | cmake | make) continue ;; esac
    [ -s "out.$kind" ] || fail "--emit $kind -o - is read by nothing here"
done <kinds.txt

# a reader that has had enough
enough() {
    { "$arenac" "$@" 2>err.txt; echo $? >status; } | head -c 10 >/dev/null
    [ ! -s err.txt ] || { cat err.txt; fail "$* | head says something"; }
    [ "$(cat status)" = 0 ] || fail "$* | head: exit $(cat status)"
}
enough compile "$m" -o -
enough plan "$m" --emit html -o -
enough ops
enough help --man
enough completion bash
enough compile "$m" -vv -o written.c
[ -s written.c ] && [ -s written.h ] || fail "no files where the report was not read to its end"
if [ -e /dev/full ]; then
    expect 3 '' sh -c "'$arenac' plan '$m' --emit html -o - >/dev/full"
    expect 3 '' sh -c "'$arenac' ops >/dev/full"
fi
exit $bad
