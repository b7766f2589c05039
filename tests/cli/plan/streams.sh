#!/bin/sh
# `-o -`: standard output is the output, and nothing else: each kind is read by a parser of its own. Who reads may stop
# early: nothing is said, and files are written all the same. usage: streams.sh ARENAC SOURCE_DIR
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
    for f in branch_int8.c self.c; do
        ${CC:-cc} -std=c99 -fsyntax-only -Wall -Wextra -I. $f || fail "$f does not compile"
    done
fi

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
