#!/usr/bin/env python3
"""List the files and functions that comments and pages name and that do not exist: FILE:LINE: NAME.

usage: named_files.py TREE ALLOWED

Reads comments of .c, .h and .def files and the pages of docs/, code included. A name ends in .c, .h, .def, .sh or .py;
with folders in front of it, the tree must have that path or end in it. A function, type or variable begins with ac_,
arn_ or arenac_; the code of some file must contain it. ALLOWED has one name or stem (kws.*) a line that is outside the
tree; '#' starts a comment. Prints unused lines of ALLOWED as well. Exits 1 if it prints.
"""
import pathlib
import re
import sys

import english

NAME = re.compile(r"(?<![\w./*<>%$}-])(?:\.\./)*((?:[\w.-]+/)*\w[\w-]*\.(?:c|h|def|sh|py))\b(?![\w(*])")

IDENTIFIER = re.compile(r"\b(?:ac|arn|arenac)_[a-z](?:[a-z0-9_]*[a-z0-9])?\b(?![*_(]*[A-Z])")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def identifiers_of(tree):
    """Each ac_, arn_ and arenac_ name in the code of the tree, outside of the comments of C."""
    for path in english.tracked(tree):
        if path.endswith((".c", ".h", ".def", ".cmake", "CMakeLists.txt", ".sh", ".py", ".in")):
            text = (tree / path).read_text(encoding="utf-8", errors="replace")
            yield from IDENTIFIER.findall(COMMENT.sub(" ", text) if path.endswith((".c", ".h", ".def")) else text)


def paths_of(tree):
    """Each path of a file and each ending of it that begins at a folder or at the file; of goldens the path only."""
    for path in english.tracked(tree):
        parts = path.split("/")
        for i in range(1 if path.startswith("tests/golden/") else len(parts)):
            yield "/".join(parts[i:])


def places(tree):
    """(file, line, text) of each text that is checked."""
    for path, _, kind, line, text in english.texts(tree):
        if kind == "comments":
            yield path, line, text
    for path, folder in english.files(tree, None):
        if folder == "docs" and path.suffix == ".md":
            lines = (tree / path).read_text(encoding="utf-8").split("\n")
            yield from ((path, number, line) for number, line in enumerate(lines, 1))


def main():
    tree = pathlib.Path(sys.argv[1])
    allowed = {line.split("#")[0].strip() for line in pathlib.Path(sys.argv[2]).read_text().split("\n")} - {""}
    exist, used, named, missing = set(paths_of(tree)) | set(identifiers_of(tree)), set(), 0, []
    for path, line, text in places(tree):
        for name in NAME.findall(text) + IDENTIFIER.findall(text):
            named += 1
            stem = name.rpartition(".")[0] + ".*"
            if name in exist:
                continue
            if name in allowed or stem in allowed:
                used |= {name, stem} & allowed
            else:
                missing.append(f"{path}:{line}: {name} does not exist")
    missing += [f"{sys.argv[2]}: {name} is not needed" for name in sorted(allowed - used)]
    print("\n".join([*missing, f"{named} names"]))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
