#!/bin/sh
# Names from models are text in every output: markup, quotes, ends of comments and of lines in names of tensors and
# operators. SVG and HTML parse, with no element or attribute that a name brought in; DOT, Markdown, CSV, JSON and the
# lock keep their form; the C compiles. usage: hostile_names.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require python3 python3
python3 - "$arenac" <<'END' || fail "hostile names"
import csv, html.parser, io, json, re, subprocess, sys
import xml.etree.ElementTree as xml
arenac = sys.argv[1]
NAMES = ['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', "'); DROP TABLE t;--", '</title></svg><svg>',
         ']]><!--', '*/ int evil; /*', '??/\n#include "/etc/passwd"', 'a|b|c\n| x', '`code`', '[link](javascript:x)',
         '"; evil -> evil; "', '\\', '\\"', '=1+1', 'a,b\r\nc', '%s%n', '&amp;&lt;', '\t', '//\\\n', '{{x}}', 'x' * 600,
         '${x}', '*bold*', '</script>', '<!-- --', 'data\x0cend', '-->', '#', '\u00e9\u4e2d']

def quoted(name):
    return '"' + "".join(f"\\x{b:02x}" if b < 32 or b > 126 or b in b'"\\' else chr(b) for b in name.encode()) + '"'

lines, last = ["graph g {", f"  input {quoted(NAMES[0])}: f32[1,4,4,2]"], NAMES[0]
for k, name in enumerate(NAMES[1:]):
    op = ("relu", "max_pool_2d", "neg")[k % 3]
    more = " kernel_h=1 kernel_w=1" if op == "max_pool_2d" else ""
    lines.append(f"  {quoted(name)} = {op}({quoted(last)}){more} {quoted(name + ' node')}")
    last = name
lines += [f"  output {quoted(last)}", "}"]
open("hostile.ag", "w").write("\n".join(lines) + "\n")

def run(*args):
    r = subprocess.run([arenac, *args], capture_output=True)
    assert r.returncode == 0, (args, r.stderr.decode(errors="replace")[:2000])
    return r.stdout.decode()  # UTF-8, or this fails

def emit(kind):
    return run("plan", "hostile.ag", "--skip", "epilogue", "-q", "--emit", kind, "-o", "-")

# the output of a harmless model of the same shape
lines = [re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: '"n' + str(abs(hash(m.group(0)))) + '"', l) for l in lines]
open("plain.ag", "w").write("\n".join(lines) + "\n")
def emit_plain(kind):
    return run("plan", "plain.ag", "--skip", "epilogue", "-q", "--emit", kind, "-o", "-")

def elements(text):
    root = xml.fromstring(text)
    return {e.tag for e in root.iter()}, {a for e in root.iter() for a in e.attrib}  # labels lie as they fit
assert elements(emit("svg")) == elements(emit_plain("svg")), "a name brought elements into the SVG"

class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.seen, self.scripts, self.inside = [], [], False
        self.feed(text)
    def handle_starttag(self, tag, attrs):
        self.seen.append((tag, tuple(sorted(a for a, _ in attrs))))
        self.inside = tag == "script"
        for a, v in attrs:
            assert not a.startswith("on") and "javascript:" not in (v or ""), (tag, attrs)
    def handle_endtag(self, tag):
        self.inside = False
    def handle_data(self, data):
        if self.inside:
            self.scripts.append(data)
a, b = Page(emit("html")), Page(emit_plain("html"))
OURS = {"wbr"}, {"title"}  # where names may be broken; a short form's long one
assert {t for t, _ in a.seen} - OURS[0] == {t for t, _ in b.seen}, "a name brought elements into the page"
assert {x for _, t in a.seen for x in t} <= {x for _, t in b.seen for x in t} | OURS[1], "a name brought attributes"
assert len(a.scripts) == len(b.scripts) and all("<script" not in s.lower() for s in a.scripts)

# Markdown: as many rows, each with as many cells; no element
def table(text):
    rows = [l for l in text.split("\n") if l.startswith("|")]
    return [len(re.findall(r"(?<!\\)\|", l)) for l in rows]
md = emit("md")
assert table(md) == table(emit_plain("md")), md
bare = re.sub(r"\\.|`[^`]*`", "", md)
assert "<" not in bare and "](" not in bare, bare

# DOT: as many statements, no quote that ends early
def statements(text):
    bare = re.sub(r'"(?:[^"\\]|\\.)*"', '""', text, flags=re.S)
    assert "evil" not in bare and "script" not in bare, bare
    return re.sub(r"\s+", " ", bare)
assert len(statements(emit("dot"))) == len(statements(emit_plain("dot")))

document = json.loads(run("plan", "hostile.ag", "--skip", "epilogue", "--json"))
assert {t["name"] for t in document["tensors"]} >= set(n for n in NAMES if n.isprintable()), "names in JSON"
rows, plain = list(csv.reader(io.StringIO(emit("csv")))), list(csv.reader(io.StringIO(emit_plain("csv"))))
assert [len(r) for r in rows] == [len(r) for r in plain]
open("hostile.lock", "w").write(emit("lock"))
assert run("diff", "hostile.lock", "hostile.lock") is not None

# C: compiles without a warning, alone and with its header
import shutil
run("compile", "hostile.ag", "-q", "--skip", "epilogue", "--name", "net", "-o", "net.c")
if shutil.which("gcc"):
    subprocess.run("gcc -std=c99 -Wall -Wextra -Wpedantic -Wtrigraphs -Werror -c net.c".split(), check=True)
text = open("net.c").read() + open("net.h").read()
bare = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
assert "evil" not in bare and "passwd" not in bare, "a name left its comment"
END
exit $bad
