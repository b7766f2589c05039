"""assemble.py - one file of the parts of the page. usage: assemble.py FOLDER; it has arenac.js and arenac.wasm, and
arenac.html then. The same parts give the same bytes."""
import base64
import gzip
import pathlib
import re
import sys

MOST = 5 << 20  # bytes of the page

web = pathlib.Path(__file__).resolve().parent
root, out = web.parent, pathlib.Path(sys.argv[1])


def text(path):
    return path.read_text(encoding="utf-8").strip()


def coded(data):
    return base64.b64encode(data).decode("ascii")


def script(source):  # nothing in it ends the element that holds it
    return source.replace("</", "<\\/").replace("<!--", "<\\!--")


version = re.search(r"project\(arenac VERSION ([\d.]+)", text(root / "CMakeLists.txt")).group(1)
parts = {
    "STYLE": text(web / "page.css"),
    "VERSION": version,
    "WASM": coded(gzip.compress((out / "arenac.wasm").read_bytes(), mtime=0)),
    "SAMPLE": coded((root / "models" / "branch_int8.tflite").read_bytes()),
    "GLUE": script(text(out / "arenac.js")),
    "TOOL": script(text(web / "tool.js")),
    "PAGE": script(text(web / "page.js")),
}
page = re.sub(r"@([A-Z]+)@", lambda m: parts[m.group(1)], text(web / "page.html")) + "\n"
(out / "arenac.html").write_text(page, encoding="utf-8")
print(f"{out / 'arenac.html'}: {len(page.encode())} bytes")
if len(page.encode()) > MOST:
    sys.exit(f"the page has more than {MOST} bytes")
