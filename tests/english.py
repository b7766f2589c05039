#!/usr/bin/env python3
"""Count constructions that are slow to read, in comments, messages and pages; hold the counts below their ceilings.

usage: english.py [TREE] [--list NAME|all] [--under FOLDER] [--check FILE] [--write FILE] [--figures FILE]

A text is a comment of a .c, .h or .def file; a message (a string of a diagnostic call, or one with a space in a .def
file); or a paragraph, item or row of a page, without its code. tests/golden does not count. Without an option prints
uses per 10,000 words, by construction and by top folder.

--list NAME     print each place of one construction, or of all, as FILE:LINE
--under FOLDER  read only the files below FOLDER
--check FILE    exit 1 if a top folder has more of a construction than FILE allows; 0 is allowed of what FILE omits
--write FILE    lower the ceilings of FILE to today's counts; a ceiling never rises
--figures FILE  write today's words and counts as JSON
"""
import argparse
import collections
import json
import pathlib
import re
import subprocess
import sys

KINDS = ("comments", "messages", "docs")
FIRST = r"(?:^|(?<=[.:;!?-]\s))"  # at the start of a sentence or of a part of it
LATER = r"(?<!^)(?<![.:;!?-]\s)"
CONSTRUCTIONS = {  # name: pattern, and what to write instead
    "What ..": (FIRST + r"(?:[Ww]hat|[Ww]hatever|Whoever)\b(?![^.?!]*\?)", "name the thing: value, operand, row"),
    "what is": (LATER + r"\bwhat (?:is|was|has|it|they)\b", "a noun"),
    "of which": (r"\b(?:of which|by which|for which|with whose|in which)\b", "two sentences"),
    "where=if": (r",\s+where (?:that|it|this|there|one|an?|no|the)\b|\bwhere (?:there )?(?:is|are) none\b",
                 "if, when"),
    "is no": (r"\b(?:is none|are none|is no|are no|there is not)\b(?! longer| more)", "is not a, has no"),
    "nobody": (r"\b(?:[Nn]obody|[Ss]omebody|whoever)\b", "the pass or caller; unused, unknown"),
    "says": (r"\b(?:[Ss]ay|[Aa]sk|[Tt]ell|[Kk]now)s\b|\b(?:[Ss]aid|[Aa]sked|[Tt]old)\b",
             "returns, checks, contains, sets"),
    "too": (r", too\b", "also, as well, or nothing"),
    "once more": (r"\b[Oo]nce more\b", "again"),
    "beside": (r"\b[Bb]eside\b", "next to, compared with"),
    "lies": (r"\b[Ll]ies?\b", "is at, is stored at"),
    "behind": (r"\b[Bb]ehind\b", "after, past the end"),
    "stands": (r"\b[Ss]tands?\b(?! for\b)", "is, appears"),
}
PATTERNS = {name: re.compile(pattern) for name, (pattern, _) in CONSTRUCTIONS.items()}
TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
DIAGNOSTIC = re.compile(r"\b(?:\w*_)?(?:error|warn|note|help|detail|reason|refused?|fail)\s*\($")
ITEM = re.compile(r"\s*(?:[-*+]|\d+\.|#+|\|)\s*")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]*")


def tracked(tree):
    """The paths of tracked files, sorted; of all files, if the tree is not a git checkout."""
    if (tree / ".git").exists():
        listed = subprocess.run(["git", "-C", tree, "ls-files", "-z"], capture_output=True, check=True, text=True)
        return sorted(listed.stdout.split("\0")[:-1])
    return sorted(str(path.relative_to(tree)) for path in tree.rglob("*") if path.is_file())


def files(tree, under):
    """(path, top folder) of each source and page."""
    for name in tracked(tree):
        path = pathlib.PurePath(name)
        if path.suffix not in (".c", ".h", ".def", ".md") or path.parts[:2] == ("tests", "golden"):
            continue
        if (not under or name.startswith(under.rstrip("/") + "/")) and (tree / path).is_file():
            yield path, path.parts[0] if len(path.parts) > 1 else "."


def words_of_comment(comment):
    body = comment[2:-2] if comment.startswith("/*") else re.sub(r"(?m)^\s*//", "", comment)
    return " ".join(re.sub(r"(?m)^[ \t]*\*", " ", body).split())


class Calls:
    """Whether a place is among the arguments of a diagnostic call."""

    def __init__(self):
        self.depth = 0

    def read(self, code):
        for i, char in enumerate(code):
            if char == "(":
                self.depth += 1 if self.depth or DIAGNOSTIC.search(code[:i + 1]) else 0
            elif char == ")":
                self.depth = max(0, self.depth - 1)
            elif char == ";":
                self.depth = 0


def texts_of_source(source, is_table):
    """(kind, line, text) of comments and messages; // comments of successive lines are one."""
    calls, end, lines, first = Calls(), 0, "", 0
    for token in TOKEN.finditer(source):
        code, text = source[end:token.start()], token[0]
        line, end = source.count("\n", 0, token.start()) + 1, token.end()
        if lines and (code.strip() or not text.startswith("//")):
            yield "comments", first, words_of_comment(lines)
            lines = ""
        calls.read(code)
        if text.startswith("//"):
            lines, first = (lines + "\n" + text, first) if lines else (text, line)
        elif text.startswith("/*"):
            yield "comments", line, words_of_comment(text)
        elif text[0] == '"' and " " in text and (calls.depth or is_table):
            yield "messages", line, text[1:-1]
    if lines:
        yield "comments", first, words_of_comment(lines)


def words_of_block(block):
    joined = re.sub(r"`[^`]*`", "X", " ".join(" ".join(block).split()))
    return re.sub(r"\]\([^)]*\)", "]", joined).replace("**", "")


def texts_of_page(source):
    """("docs", line, text) of each paragraph, heading, item and row outside of code blocks."""
    block, first, fenced = [], 0, False
    for number, line in enumerate([*source.split("\n"), ""], 1):
        fence, item = line.lstrip().startswith(("```", "~~~")), ITEM.match(line)
        if block and (fence or fenced or item or not line.strip()):
            yield "docs", first, words_of_block(block)
            block = []
        if fence:
            fenced = not fenced
        elif not fenced and line.strip():
            first = first if block else number
            block.append(line[item.end():] if item else line)


def texts(tree, under=None):
    """(path, top folder, kind, line, text) of all texts."""
    for path, folder in files(tree, under):
        source = (tree / path).read_text(encoding="utf-8", errors="replace")
        found = texts_of_page(source) if path.suffix == ".md" else texts_of_source(source, path.suffix == ".def")
        for kind, line, text in found:
            yield path, folder, kind, line, text


def count(tree, under, wanted):
    """(counts[folder][kind][construction], words[folder][kind]); prints the places of 'wanted'."""
    counts = collections.defaultdict(lambda: {kind: collections.Counter() for kind in KINDS})
    words = collections.defaultdict(collections.Counter)
    for path, folder, kind, line, text in texts(tree, under):
        words[folder][kind] += len(WORD.findall(text))
        for name, pattern in PATTERNS.items():
            for hit in pattern.finditer(text):
                counts[folder][kind][name] += 1
                if wanted in (name, "all"):
                    print(f"{path}:{line}: {name}: {text[max(0, hit.start() - 40):hit.end() + 60]}")
    return counts, words


def cell(uses, words):
    return f"{uses:>12} {'(%.1f)' % (10000 * uses / words):>7}" if words else " " * 20


def print_tables(counts, words):
    total = {kind: sum(words[folder][kind] for folder in words) for kind in KINDS}

    def row(name, uses):
        print(f"{name:<23}" + "".join(cell(uses[kind], total[kind]) for kind in KINDS).rstrip())

    print("uses (per 10,000 words)" + "".join(f"{kind:>20}" for kind in KINDS))
    for name in CONSTRUCTIONS:
        row(name, {kind: sum(counts[f][kind][name] for f in counts) for kind in KINDS})
    row("all", {kind: sum(sum(counts[f][kind].values()) for f in counts) for kind in KINDS})
    print("\nby folder")
    for folder in sorted(words):
        cells = (cell(sum(counts[folder][kind].values()), words[folder][kind]) for kind in KINDS)
        print((f"{folder:<23}" + "".join(cells)).rstrip())


def nonzero(counts):
    kinds = {f: {k: {n: c for n, c in sorted(by.items()) if c} for k, by in kinds.items()}
             for f, kinds in sorted(counts.items())}
    kinds = {f: {k: by for k, by in kinds.items() if by} for f, kinds in kinds.items()}
    return {f: kinds for f, kinds in kinds.items() if kinds}


def lowered(ceiling, counts):
    return {f: {k: {n: min(most, counts[f][k][n]) for n, most in by.items()} for k, by in kinds.items()}
            for f, kinds in ceiling.items()}


def above(ceiling, counts):
    for folder, kinds in sorted(counts.items()):
        for kind, by in kinds.items():
            for name, uses in sorted(by.items()):
                most = ceiling.get(folder, {}).get(kind, {}).get(name, 0)
                if uses > most:
                    yield (f"{folder}: {kind}: '{name}' {uses} times, at most {most}; write {CONSTRUCTIONS[name][1]}\n"
                           f"  places: python3 tests/english.py --list '{name}'"
                           + (f" --under {folder}" if folder != "." else ""))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", nargs="?", default=".", type=pathlib.Path)
    parser.add_argument("--list", metavar="NAME", choices=[*CONSTRUCTIONS, "all"])
    parser.add_argument("--under", metavar="FOLDER")
    parser.add_argument("--check", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--write", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--figures", metavar="FILE", type=pathlib.Path)
    args = parser.parse_args()
    counts, words = count(args.tree, args.under, args.list)
    if args.figures:
        args.figures.write_text(json.dumps({"words": words, "uses": nonzero(counts)}, indent=1) + "\n")
    if args.write:
        new = lowered(json.loads(args.write.read_text()), counts) if args.write.exists() else counts
        args.write.write_text(json.dumps(nonzero(new), indent=1) + "\n")
    found = list(above(json.loads(args.check.read_text()), counts)) if args.check else []
    if not (args.list or args.check or args.write or args.figures):
        print_tables(counts, words)
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
