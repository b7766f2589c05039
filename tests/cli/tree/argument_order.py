"""Finds calls with two or more arguments that each create tensors or nodes of the graph. C does not define their order
of evaluation: gcc goes from right to left, clang from left to right, so that numbers and names would depend on the
compiler. All but one must be created before the call. Loops (ac_x values) may do so: ir/loop/canonical.c sorts them.

A function creates something if it reaches MAKERS through functions that it calls by name, not through pointers; macros
are expanded. usage: argument_order.py CC MADE FILE.c..., in the root of the sources, MADE being the folder of the
tables that the build makes; prints what is wrong, and last how many calls have an argument that makes something"""
import re
import subprocess
import sys

MAKERS = {"ac_tensor_new", "ac_node_new"}
CHECKED = ("import/", "ir/grad/", "ir/make/", "ir/pass/", "ir/train/")  # other files: their functions only
NO_CALLS = {"if", "for", "while", "switch", "return", "sizeof", "_Alignof", "__attribute__"}
TOKEN = re.compile(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|[A-Za-z_]\w*|->|[^\s\w]')


class Call:
    def __init__(self, name, file, line):
        self.name, self.file, self.line = name, file, line
        self.arguments = [set()]  # for each argument the names that it calls


class Function:
    def __init__(self, name, local, calls):
        self.name, self.local, self.calls = name, local, calls


def is_name(token):
    return re.match(r"[A-Za-z_]", token) is not None


def tokens_of(cc, made, path):
    """(text, file, line) of a file and of our headers that it includes, after the preprocessor."""
    text = subprocess.run([cc, "-E", "-std=gnu11", "-D_GNU_SOURCE", "-I.", "-I" + made, "-Iruntime", path], check=True,
                          stdout=subprocess.PIPE, universal_newlines=True).stdout
    file, line, tokens = path, 0, []
    for row in text.splitlines():
        mark = re.match(r'# (\d+) "(.*?)"', row)
        if mark:
            file, line = re.sub(r"^\./", "", mark.group(2)), int(mark.group(1))
            continue
        if file[0] not in "/<" and not row.startswith("#"):
            tokens += [(t, file, line) for t in TOKEN.findall(row)]
        line += 1
    return tokens


def closing(tokens, i):
    """Where the bracket that opens at i closes."""
    depth = 0
    for k in range(i, len(tokens)):
        if tokens[k][0] in "([{":
            depth += 1
        elif tokens[k][0] in ")]}":
            depth -= 1
            if not depth:
                return k
    sys.exit("%s:%d: a bracket stays open" % tokens[i][1:])


def calls_of(body):
    inside, brackets, found = [], [], []  # the calls around; for each open bracket its call or None; all
    for k, (t, file, line) in enumerate(body):
        if t in "([{":
            before, call = body[k - 1][0] if k else "", None
            if t == "(" and before not in NO_CALLS and (is_name(before) or before in (")", "]")):
                pointer = not is_name(before) or (k > 1 and body[k - 2][0] in ("->", "."))
                call = Call("a pointer" if pointer else before, file, line)
                for outer in inside:
                    outer.arguments[-1].add(call.name)
                inside.append(call)
                found.append(call)
            brackets.append(call)
        elif t in ")]}":
            if brackets.pop():
                inside.pop()
        elif t == "," and brackets and brackets[-1]:
            brackets[-1].arguments.append(set())
    return found


def functions_of(tokens):
    i, start, found = 0, 0, {}
    while i < len(tokens):
        t = tokens[i][0]
        if t == "(":
            name, end = tokens[i - 1][0], closing(tokens, i)
            if is_name(name) and end + 1 < len(tokens) and tokens[end + 1][0] == "{":
                local, last = ("static" in [x[0] for x in tokens[start:i]]), closing(tokens, end + 1)
                found[name] = Function(name, local, calls_of(tokens[end + 2:last]))
                start = last + 1
                end = last
            i = end
        elif t in "[{":
            i = closing(tokens, i)
        elif t == ";":
            start = i + 1
        i += 1
    return found


def main():
    units = [functions_of(tokens_of(*sys.argv[1:3], path)) for path in sys.argv[3:]]
    shared = {f.name: f for unit in units for f in unit.values() if not f.local}
    making = set()

    def makes(unit, name):
        return name in MAKERS or unit.get(name, shared.get(name)) in making

    before = -1
    while before < len(making):
        before = len(making)
        for unit in units:
            making.update(f for f in unit.values() if any(makes(unit, call.name) for call in f.calls))

    seen, wrong = 0, set()
    for unit in units:
        for call in (call for f in unit.values() for call in f.calls if call.file.startswith(CHECKED)):
            making_some = [sorted(n for n in names if makes(unit, n)) for names in call.arguments]
            making_some = [", ".join(names) for names in making_some if names]
            seen += len(making_some) > 0
            if len(making_some) > 1:
                wrong.add((call.file, call.line, call.name, " | ".join(making_some)))
    for row in sorted(wrong):
        print("%s:%d: arguments of %s each make something, in an order that C leaves open: %s" % row)
    print(seen)
    sys.exit(1 if wrong else 0)


main()
