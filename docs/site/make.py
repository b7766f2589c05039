"""make.py - the sources of the documentation site: pages of docs/ and of the root, the parts of the tree that they link
to, and the API from the sources, with a navigation that is README.md's list of pages.
usage: make.py ARENAC SOURCE_DIR FOLDER; FOLDER gets mkdocs.yml and pages/.
"""
import ast
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

arenac, source, out = (pathlib.Path(p).resolve() for p in sys.argv[1:4])
pages = out / "pages"
ROOT = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md",
        "SECURITY.md": "security.md", "models/README.md": "models.md"}


def write(name, text):
    at = pages / name
    at.parent.mkdir(parents=True, exist_ok=True)
    at.write_text(text, encoding="utf-8")


def fenced(language, text):
    return f"```{language}\n{text.strip(chr(10))}\n```\n"


# ------------------------------------------------------------------ pages and their links


def shown(path):
    """A page for a file or folder of the tree, once; its name."""
    at = source / path
    name = f"source/{path}.md"
    if (pages / name).exists():
        return name
    if at.is_dir():
        inside = sorted(f for f in at.iterdir() if f.is_file() and not f.name.startswith("."))
        up = "../" * name.count("/")
        lines = [f"- [{f.name}]({up}{shown(f'{path}/{f.name}')})" for f in inside]
        write(name, f"# {path}\n\n" + "\n".join(lines) + "\n")
    else:
        try:
            write(name, f"# {path}\n\n" + fenced(at.suffix[1:].replace("def", "c"), at.read_text(encoding="utf-8")))
        except UnicodeDecodeError:
            write(name, f"# {path}\n\n{at.stat().st_size:,} bytes that are no text.\n")
    return name


def page(path):
    """Copies a page; links to other pages and to the tree lead to what the site has."""
    here = pathlib.Path(path).parent

    def link(m):
        to, anchor = m.group(1), m.group(2) or ""
        if re.match(r"[a-z]+:", to) or not to:
            return m.group(0)
        full = (source / here / to).resolve().relative_to(source).as_posix()
        up = "" if path in ROOT else "../" * (path.count("/") - 1)
        if full in ROOT:
            return f"]({up}{ROOT[full]}{anchor})"
        if full.startswith("docs/") and full.count("/") <= 2 and not full.endswith(".c"):
            return f"]({up}{full[5:]}{anchor})"
        return f"]({up}{shown(full)})"

    text = (source / path).read_text(encoding="utf-8")
    write(ROOT.get(path, path.removeprefix("docs/")), re.sub(r"\]\(([^)#\s]*)(#[^)\s]*)?\)", link, text))


# ------------------------------------------------------------------ the API


def c_api(path, title):
    """Of a header: what it is, and every declaration after the comment before it."""
    text = (source / path).read_text(encoding="utf-8")
    about, rest = re.match(r"/\* (.*?)\*/\n(.*)", text, re.S).groups()
    about = "\n".join(re.sub(r"^ \* ?", "", line) for line in about.splitlines())
    parts = [f"# {title}\n", f"`#include <{pathlib.Path(path).name}>`\n", fenced("", about)]
    rest = re.sub(r"^#(ifdef __cplusplus|ifndef|define AC_\w+_H|include|endif).*\n(extern \"C\" \{\n|\}\n)?", "", rest,
                  flags=re.M)
    n = 0  # declarations
    for block in re.split(r"\n\s*\n", rest):
        plain = re.sub(r"/\*.*?\*/", "", block, flags=re.S)
        name = re.search(r"^\} (\w+);", plain, re.M) or re.search(r"^\w.*?(\w+)\(", plain, re.M)
        if name:
            parts.append(f"## {name.group(1)}\n\n" + fenced("c", block))
            n += 1
        elif plain.strip() not in ("", "}"):
            parts.append(fenced("c", block))
    if n < 5:
        sys.exit(f"{path}: only {n} declarations found")
    return "\n".join(parts)


def header_api():
    """Of the generated header, by the header of a sample."""
    with tempfile.TemporaryDirectory() as tmp:
        sample = source / "models" / "digits_int8.tflite"
        subprocess.run([arenac, "compile", "-q", sample, "--name", "m", "--emit", "h", "-o", f"{tmp}/m.h"], check=True)
        text = pathlib.Path(tmp, "m.h").read_text(encoding="utf-8")
    rows = re.findall(r"^#define (M_\w+) (\S+)(?: /\* (.*?) \*/)?$", text, re.M)
    calls = re.findall(r"^(?:static inline )?([a-z][\w ]+[ *]m_\w+\([^)]*\))", text, re.M)
    if len(rows) < 10 or len(calls) < 4:
        sys.exit("the generated header is not as expected")
    table = "".join(f"| `{n}` | `{v}` | {c} |\n" for n, v, c in rows)
    return ("# API of the generated header\n\nThe header of `models/digits_int8.tflite` with `--name m`; [generated C]"
            "(generated-c.md) says what the options add, and what each call promises.\n\n## Macros\n\n"
            "| macro | here | |\n|---|---|---|\n" + table + "\n## Calls\n\n" + fenced("c", ";\n".join(calls) + ";")
            + "\n## The whole header\n\n" + fenced("c", text))


def python_api():
    """Of the Python package: public functions and classes with their signatures and docstrings."""
    tree = ast.parse((source / "python" / "arenac" / "__init__.py").read_text(encoding="utf-8"))
    parts = ["# API of the Python package\n", ast.get_docstring(tree) or "", ""]

    def add(node, level, of=""):
        if node.name.startswith("_"):
            return
        doc = ast.get_docstring(node) or ""
        if isinstance(node, ast.ClassDef):
            parts.append(f"{'#' * level} class {node.name}\n\n{doc}\n")
            for f in node.body:
                if isinstance(f, ast.AnnAssign):
                    parts.append(f"- `{ast.unparse(f)}`")
            parts.append("")
            for f in node.body:
                if isinstance(f, ast.FunctionDef):
                    add(f, level + 1, node.name + ".")
            return
        result = f" -> {ast.unparse(node.returns)}" if node.returns else ""
        parts.append(f"{'#' * level} {of}{node.name}\n\n"
                     + fenced("python", f"{of}{node.name}({ast.unparse(node.args)}){result}") + f"\n{doc}\n")

    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            add(node, 2)
    return "\n".join(parts)


# ------------------------------------------------------------------ the site

if out.exists():
    shutil.rmtree(out)
pages.mkdir(parents=True)
for f in sorted(f for at in (".", "design", "inside") for f in (source / "docs" / at).glob("*.md")):
    page(f.relative_to(source).as_posix())
for name in ROOT:
    page(name)
for f in [*(source / "docs").glob("*.svg"), *(source / "docs").glob("*.json")]:
    shutil.copy(f, pages)
shutil.copytree(source / "docs" / "img", pages / "img")
for picture in (source / "docs").rglob("*.svg"):  # README.md's are in docs/
    to = pages / "docs" / picture.relative_to(source / "docs")
    to.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(picture, to)
write("wide.css", ".wy-nav-content{max-width:72rem}.rst-content code{color:#a3241b!important}"
      ".wy-side-nav-search,.wy-nav-top{background:#1f5f8b}.wy-nav-content a:not(.btn){color:#1f5f8b}"
      ".rst-content pre code{color:#222!important}footer{color:#595959}.rst-content pre,.wide{overflow-x:auto}"
      ".rst-content pre code,.wy-table-responsive,.wide table{overflow:visible!important}"
      ".wide table{display:table!important}")
write("api-header.md", header_api())
write("api-planner.md", c_api("planner/pack/arenac_planner.h", "API of the planner library"))
write("api-arenac.md", c_api("arenac.h", "API of the compiler as a library"))
write("api-python.md", python_api())

nav = [{"arenac": "index.md"}]
readme = (source / "README.md").read_text(encoding="utf-8")
listed = readme[readme.index("## Documentation"):]
for group, links in re.findall(r"^- \*\*(.*?)\*\*:?(.*?)(?=^- |^$)", listed, re.M | re.S):
    found = re.findall(r"\[([^]]*)\]\(([^)]*)\)", links)
    nav.append({group: [{title[0].upper() + title[1:]: ROOT.get(to, to.removeprefix("docs/"))} for title, to in found
                        if to in ROOT or to.startswith("docs/")]})
nav.append({"API": [{"Generated header": "api-header.md"}, {"Planner library": "api-planner.md"},
                    {"The compiler as a library": "api-arenac.md"}, {"Python": "api-python.md"}]})
nav.append({"Project": [{"Journey of a model": "journey.md"}, {"Changes": "changelog.md"},
                        {"Security": "security.md"}]})
config = {
    "site_name": "arenac",
    "docs_dir": "pages",
    "site_dir": "site",
    "use_directory_urls": False,  # opens from a disk, too; only the search needs a server
    "theme": {"name": "readthedocs", "highlightjs": False, "navigation_depth": 3, "collapse_navigation": False},
    "extra_css": ["wide.css"],
    "hooks": [str(source / "docs" / "site" / "hooks.py")],
    "plugins": ["search"],
    "markdown_extensions": ["tables", "fenced_code", "sane_lists", {"toc": {"permalink": "#"}}],
    "validation": {"nav": {"omitted_files": "ignore", "not_found": "warn"},
                   "links": {"not_found": "warn", "anchors": "warn", "absolute_links": "warn",
                             "unrecognized_links": "warn"}},
    "nav": nav,
}
(out / "mkdocs.yml").write_text(json.dumps(config, indent=2), encoding="utf-8")  # JSON is YAML
listed = json.dumps(nav)
for name in sorted(f.name for f in (source / "docs").glob("*.md")):
    if f'"{name}"' not in listed:
        sys.exit(f"README.md lists docs/{name} under no group")
print(f"{sum(1 for _ in pages.rglob('*.md'))} pages")
