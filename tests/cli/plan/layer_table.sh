#!/bin/sh
# One layer table in show, plan -v, --emit md and bench --per-op: short names, operator, result, bytes, weights and
# multiply-adds, which add up to those of the report; measured times have their share. In show every operator of the
# file is one row, also if it was fused or split. Short names are also those of the picture and the page. usage:
# layer_table.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require python3 python3
m=$models/digits_int8.tflite
"$arenac" plan -v "$m" >plan.txt
"$arenac" plan "$m" --emit md >plan.md
"$arenac" plan "$m" --json >plan.json
"$arenac" plan -q "$models/branch_int8.tflite" --emit svg,html -o names
"$arenac" plan -v "$models/branch_int8.tflite" >names.txt
"$arenac" show "$m" >show.txt
"$arenac" show "$m" --json >show.json
for f in squares.prototxt dense-symbol.json gate.ag tf_cnn.pb; do "$arenac" show "$models/$f" >"$f.txt"; done
"$arenac" show "$models/squares.prototxt" --json >squares.json
# an error that only check finds does not keep show from printing
"$arenac" convert -q "$m" m.ag
sed 's/input image: i8\[1,/input image: i8[?,/' m.ag >open.ag
"$arenac" show open.ag >open.txt
if command -v "${CC:-cc}" >/dev/null; then "$arenac" bench "$m" --per-op --runs 5 >bench.txt; fi
python3 - <<'X'
import json, os, re

def cells(line):
    return re.split(r" {2,}", line.strip())

def table(path):
    """rows of the layer table as dicts by title"""
    lines = open(path).read().split("\n")
    at = next(i for i, s in enumerate(lines) if s.split()[:2] == ["#", "layer"])
    titles, rows = cells(lines[at]), []
    for line in lines[at + 1:]:
        if not re.match(r" *\d+  ", line):
            break
        rows.append(dict(zip(titles, cells(line))))
    return rows

def number(text):
    return int(text.replace(",", ""))

report, shown = json.load(open("plan.json")), json.load(open("show.json"))
plan, show = table("plan.txt"), table("show.txt")
assert len(plan) == len(report["steps"]) and len(show) == shown["operators"] == len(shown["layers"])
for row, x in zip(plan, report["steps"]):
    assert number(row["bytes"]) == x["result_bytes"] and number(row["weights"]) == x["weight_bytes"], row
    assert number(row["multiply-adds"]) == x["macs"] and number(row["live"]) == x["live_bytes"], row
    assert row["operator"] == x["op"] and len(row["layer"]) <= 24 and ";" not in row["layer"], row
assert len({r["layer"] for r in plan}) == len(plan)
macs = report["model"]["macs"]
assert sum(number(r["multiply-adds"]) for r in show) == sum(x["macs"] for x in shown["layers"]) == macs > 0
assert sum(x["weight_bytes"] for x in report["steps"]) == report["model"]["weight_bytes"]

# the same cells in Markdown, and where time was measured
md = [[c.strip().strip("`") for c in s.strip("|\n").split("|")] for s in open("plan.md") if s.startswith("|")]
head = next(i for i, r in enumerate(md) if r[:2] == ["#", "layer"])
assert [dict(zip(md[head], r)) for r in md[head + 2:head + 2 + len(plan)]] == plan
if os.path.exists("bench.txt"):
    bench = table("bench.txt")
    same = ("#", "layer", "operator", "result", "bytes", "multiply-adds")
    assert [[r[k] for k in same] for r in bench] == [[r[k] for k in same] for r in plan]
    assert abs(sum(float(r["share"].rstrip(" %")) for r in bench) - 100) < 1

# one short name of a tensor: labels of the picture, tables of the page, text; the whole one is in the hover card
page = open("names.html").read()
data = json.loads(re.search(r'id="plan-data">(.*?)</script>', page, re.S)[1])
short = dict(zip(data["name"], data["short"]))
assert max(map(len, short)) > 100 and max(map(len, short.values())) < 30 and len(set(short.values())) == len(short)
sizes = re.compile(r"[\d.,]+ (B|KiB|MiB)$")
labels = [s for part in re.findall(r'<g class="labels">(.*?)</g>', open("names.svg").read(), re.S)
          for s in re.findall(r"<text[^>]*>([^<]*)</text>", part) if not sizes.match(s)]
assert len(labels) > 8 and set(labels) <= set(short.values()), set(labels) - set(short.values())
rows = re.findall(r'<button class="link" data-t="(\d+)"( title="[^"]*")?>(.*?)</button>', page)
assert len(rows) == len(short)
for i, title, text in rows:
    name = data["name"][int(i)]
    assert text.replace("<wbr>", "") == short[name] and (title[8:-1] or text) == name, (name, title, text)
cards = re.findall(r"<title>([^\n<]*)\n", page)
assert set(short) <= set(cards), set(short) - set(cards)
told = {c for line in open("names.txt") for c in cells(line)}
assert set(labels) <= told, set(labels) - told
steps = re.findall(r'<tr id="s\d+"><td class="n">\d+<td>[^<]*<td[^>]*>(.*?)<td', page)
assert [s.replace("<wbr>", "") for s in steps] == data["step_short"] == [r["layer"] for r in table("names.txt")]

# operators of the file, not the resulting nodes
caffe = table("squares.prototxt.txt")
names = [r["layer"] for r in caffe]
assert len(names) == len(set(names)) == 13 and "conv1" in names, names
split = next(r for r in caffe if r["layer"] == "crop")
assert split["result"] == "f32 [1,4,4,4] +1" and split["bytes"] == "512", split
assert any(len(x["nodes"]) > 1 for x in json.load(open("squares.json"))["layers"])
assert "num_hidden=6" in open("dense-symbol.json.txt").read()
assert table("open.txt")[0]["multiply-adds"] == "?"
X
