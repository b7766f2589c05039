#!/bin/sh
# bench --html: a page without script, whose pictures have the steps and roofs that --per-op --json has.
# usage: roofline.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require "${CC:-cc}" gcc
cat >m.ag <<'M'
graph m {
  input x: f32[256,512]
  const w: f32[512,512] = random 1 (-1, 1)
  a = fully_connected(x, w) "dense <1>"
  b = transpose(a) perm=[1, 0]
  output b
}
M
expect 0 'median_ms' "$arenac" bench m.ag --runs 20 --html roof.html
python3 - <<'P' || fail "the page of bench --html"
import re, xml.dom.minidom
page = open("roof.html", encoding="utf-8").read()
assert "<script" not in page and "http://" not in page and "prefers-color-scheme:dark" in page
svg = [xml.dom.minidom.parseString(s) for s in re.findall(r"<svg.*?</svg>", page, re.S)]
assert len(svg) == 2, len(svg)
circles = [s.getElementsByTagName("circle") for s in svg]
assert [len(c) for c in circles] == [1, 1], circles
title = circles[0][0].getElementsByTagName("title")[0].firstChild.data
assert title.startswith("step 0, ") and "dense <1>" in title, title
for s in svg:
    text = " ".join(t.firstChild.data for t in s.getElementsByTagName("text"))
    assert "memory, " in text and "L2, " in text and "GB/s" in text, text
    for c in s.getElementsByTagName("circle"):
        assert 70 <= float(c.getAttribute("cx")) <= 880 and 16 <= float(c.getAttribute("cy")) <= 384, c.toxml()
        assert '<tr id="%s">' % c.parentNode.getAttribute("href")[1:] in page
assert "f32, " in " ".join(t.firstChild.data for t in svg[0].getElementsByTagName("text"))
P
expect 8 'E0502.*--html' "$arenac" bench m.ag --runs 1 --html no.html --backend eval
[ ! -e no.html ] || fail "a page of nothing"
expect 2 'E0501.*QEMU' "$arenac" bench m.ag -t cortex-m4 --html no.html
