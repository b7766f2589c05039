#!/usr/bin/env python3
"""Random small functions whose buffers share bytes: if arenac-certcheck calls one VALID, it is right.

usage: certificates.py CERTCHECK COUNT [SEED]

One bool of an input steers every function, so two runs are all of them. `Memory` executes a function with the owner of
each byte: a load must find the bytes that were stored there for its buffer, and results must be there at the end. Exit
status: 1 if a wrong function is VALID, or if too few of either verdict were seen to mean anything."""
import random
import subprocess
import sys

BYTES, INPUT, STEER = 12, 9, 8  # of the memory; where its second and first input are


class Wrong(Exception):
    pass


class Buffer:
    def __init__(self, k, role, count, offset, tensor, begin):
        self.name, self.role, self.count, self.offset = f"b{k}", role, count, offset
        self.tensor, self.begin = tensor, begin

    def tag(self, element):
        return (self.tensor, self.begin + element)


def block(rng, buffers, depth):
    """Statements: (load, buffer, index), (store, ..), (if, then, otherwise) and (for, leave, body)."""
    out = []
    for _ in range(rng.randint(1, 2) if depth else rng.randint(2, 5)):
        kind, b = rng.random(), rng.choice(buffers)
        at = rng.choice(["first", "last", "steered" if b.count > 1 and rng.random() < 0.3 else "last"])
        if kind < 0.35:
            out.append(("load", b, at))
        elif kind < 0.75 and b.role != "in":
            out.append(("store", b, at))
        elif kind < 0.9 and depth < 2:
            out.append(("if", block(rng, buffers, depth + 1), block(rng, buffers, depth + 1) if kind < 0.82 else []))
        elif depth < 2:
            out.append(("for", rng.random() < 0.5, block(rng, buffers, depth + 1)))
    return out


def place(b, at, steer):
    return 0 if at == "first" else b.count - 1 if at == "last" else steer


def text(code, lines):
    """Appends the instructions; 1: 0, 2: 1, 3: the bool, 4: it as an index, 5: a byte, 6 .. 8: 0 to 2."""
    for op, what, more in code:
        if op in ("load", "store"):
            index = "%4" if more == "steered" else "%1" if more == "first" else f"%{5 + what.count}"
            lines.append(f"load i8 {what.name}[{index}]" if op == "load" else f"store {what.name}[{index}] %5")
        elif op == "if":
            lines.append("if %3")
            text(what, lines)
            if more:
                lines.append("else")
                text(more, lines)
            lines.append("end")
        else:
            lines.append("for i32 %1 .. %8 step 1")
            if what:
                lines.append("break_if %3")
            text(more, lines)
            lines.append("end")


class Memory:
    def __init__(self, steer):
        self.steer, self.owner = steer, [None] * BYTES
        self.owner[STEER], self.owner[INPUT:INPUT + 3] = (1, 0), [(2, k) for k in range(3)]

    def begin(self, buffers):
        for b in buffers:
            here = slice(b.offset, b.offset + b.count)
            own = [b.tag(k) for k in range(b.count)]
            if b.role in ("in", "inout") and self.owner[here] != own:
                raise Wrong("an operand is not there")
            if b.role == "out":
                self.owner[here] = [None if o in own else o for o in self.owner[here]]

    def run(self, code):
        for op, what, more in code:
            if op in ("load", "store"):
                at = place(what, more, self.steer)
                if at >= what.count:
                    raise Wrong("an element outside")
                byte = what.offset + at
                if op == "store":
                    self.owner[byte] = what.tag(at)
                elif self.owner[byte] != what.tag(at):
                    raise Wrong("another byte is read")
            elif op == "if":
                self.run(what if self.steer else more)
            elif not (what and self.steer):
                self.run(more)
                self.run(more)

    def end(self, buffers):
        for b in buffers:
            if b.role == "out" and self.owner[b.offset:b.offset + b.count] != [b.tag(k) for k in range(b.count)]:
                raise Wrong("a result is not there")


def program(rng):
    """(certificate, what is wrong about it or None)."""
    held, tensor, steps = [(2, INPUT, 3)], 2, []
    for _ in range(rng.choice([1, 2])):
        buffers = []
        for k in range(rng.randint(2, 4)):
            role = rng.choice(["in", "out", "out", "inout", "scratch", "scratch"])
            count, offset, begin = rng.randint(1, 2), rng.randint(0, 7), 0
            tensor += 1
            t = tensor
            if role in ("in", "inout"):
                t, offset, most = rng.choice(held)
                count = min(count, most)
                begin = rng.randint(0, most - count)
                offset += begin
            buffers.append(Buffer(k, role, count, offset, t, begin))
        first = [b for b in buffers if b.role in ("out", "scratch") and rng.random() < 0.8]
        last = [b for b in buffers if b.role == "out"]
        code = [("store", b, at) for b in first for at in ("first", "last")] + block(rng, buffers, 0)
        code += [("store", b, at) for b in last for at in ("first", "last")]
        steps.append((buffers, code))
        held += [(b.tensor, b.offset, b.count) for b in buffers if b.role == "out"]
    result = rng.choice(held)
    lines = ["arenac-code-certificate 1", f"memory arena {BYTES} 16"]
    lines += [f"before 0 {STEER} 1 1 0", f"before 0 {INPUT} 3 2 0"]
    for k, (buffers, code) in enumerate(steps):
        lines += [f"fn f{k}", "  buf c in bool 1 align 1"]
        lines += [f"  buf {b.name} {b.role} i8 {b.count} align 1" for b in buffers]
        ins = ["const i32 0", "const i32 1", "load bool c[%1]", "cast i32 %3", "const i8 3"]
        ins += ["const i32 0", "const i32 1", "const i32 2"]
        text(code, ins)
        named = ("const", "load", "cast", "for")
        lines += ["  " + (f"%{n + 1} = {i}" if i.startswith(named) else i) for n, i in enumerate(ins)]
    for k, (buffers, code) in enumerate(steps):
        lines += [f"call {k} tasks 1", f"  arg memory 0 {STEER} 1 1 0 1"]
        lines += [f"  arg memory 0 {b.offset} {b.count} " + ("0 0 0" if b.role == "scratch" else
                  f"{b.tensor} {b.begin} {b.count}") for b in buffers]
    lines += [f"after 0 {result[1]} {result[2]} {result[0]} 0", "end", ""]
    try:
        for steer in (0, 1):
            m = Memory(steer)
            for buffers, code in steps:
                if m.owner[STEER] != (1, 0):
                    raise Wrong("the bool is not there")
                m.begin(buffers)
                m.run(code)
                m.end(buffers)
            if m.owner[result[1]:result[1] + result[2]] != [(result[0], k) for k in range(result[2])]:
                raise Wrong("the result is not there at the end")
    except Wrong as why:
        return "\n".join(lines), str(why)
    return "\n".join(lines), None


def main():
    certcheck, count, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 1
    seen = {}
    for k in range(count):
        certificate, why = program(random.Random(seed * 1000003 + k))
        with open("random.cert", "w") as out:
            out.write(certificate)
        r = subprocess.run([certcheck, "random.cert"], stdout=subprocess.PIPE, text=True, timeout=60)
        verdict = r.stdout.split(" ")[0]
        if r.returncode not in (0, 1, 3) or (verdict == "VALID" and why):
            sys.exit(f"seed {seed}, function {k}: {r.stdout.strip()}, but {why}; status {r.returncode}\n{certificate}")
        seen[verdict, why is None] = seen.get((verdict, why is None), 0) + 1
    print(seen)
    right = seen.get(("VALID", True), 0)
    wrong = sum(n for (v, ok), n in seen.items() if v != "VALID" and not ok)
    strict = sum(n for (v, ok), n in seen.items() if v != "VALID" and ok)
    if right * 20 < count or wrong * 4 < count or strict > right:
        sys.exit(f"that shows little: {right} right ones are VALID, {strict} are not; {wrong} wrong ones are not")


main()
