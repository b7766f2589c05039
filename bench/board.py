"""Builds compiled models for microcontrollers and runs them on QEMU's boards. Used by firmware.py and by tests.

    boards = read_boards()                                       the rows of host/firmware/boards.def
    r = measure(boards["cortex-m4"], "net", "net.c", "net.selftest.c", folder, opt="-O2")
    r["insns"], r["stack"], r["code"], r["rodata"], r["status"]   status 0: every byte is equal

The start-up code and the linker script are those of runtime/board.
"""
import os
import re
import shlex
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BOARD = os.path.join(ROOT, "runtime", "board")
STACK = 256 << 10
FIELDS = ("prefix", "cpu", "link", "libc", "system", "machine", "emulated", "boot", "boot_bytes", "flash",
          "flash_bytes", "ram", "ram_bytes", "tick_insns", "tick_parts", "packages")


class Failed(Exception):
    pass


def read_boards(path=os.path.join(ROOT, "host", "firmware", "boards.def")):
    """The table as a C compiler would read it."""
    text = open(path).read()
    macros = dict(re.findall(r"^#define (\w+) +(.*)$", text, re.M))
    boards = {}
    for row in re.findall(r"^BOARD\((.*?)\)$", text, re.M | re.S):
        row = re.sub(r"\b(%s)\b(?=[,)]|$)" % "|".join(macros), lambda m: macros[m[1]], row)
        fields = [w[1:-1] if w[0] == '"' else int(w, 0) for w in re.findall(r'"[^"]*"|0x[0-9a-f]+|\d+', row)]
        boards[fields[0]] = dict(zip(FIELDS, fields[1:]), name=fields[0])
    return boards


def missing(board):
    """The Debian packages to install, or ''."""
    tools = [board["prefix"] + "gcc", "qemu-system-" + board["system"]]
    return "" if all(shutil.which(t) for t in tools) else board["packages"]


def call(command, **more):
    r = subprocess.run(command, capture_output=True, text=True, **more)
    if r.returncode:
        raise Failed("%s\n%s%s" % (" ".join(map(shlex.quote, command)), r.stdout, r.stderr))
    return r.stdout


def gcc(board, *words):
    return call([board["prefix"] + "gcc"] + board["cpu"].split() + board["libc"].split() + list(words))


def clang():
    """The newest clang that Debian installs, or None."""
    return next((c for c in ("clang-19", "clang") if shutil.which(c)), None)


def clang_words(board):
    """A clang that compiles for the board, with the C library's headers of its gcc."""
    shown = subprocess.run([board["prefix"] + "gcc"] + (board["cpu"] + " " + board["libc"]).split() +
                           ["-xc", "-E", "-v", "/dev/null"], capture_output=True, text=True).stderr
    listed = shown.split("search starts here:")[-1].split("End of search list")[0].split()
    folders = [d for d in map(os.path.normpath, listed) if "/gcc/" not in d]
    triple = "arm-none-eabi" if board["system"] == "arm" else "riscv32-unknown-elf"
    return [clang(), "--target=" + triple, *board["cpu"].split()] + [w for d in folders for w in ("-isystem", d)]


def link(board, *words):
    return gcc(board, *board["link"].split(), *SCRIPT, *places(board), *words)


SCRIPT = ["-nostartfiles", "-static", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments",
          "-T", os.path.join(BOARD, "link.ld")]


def places(board):
    return ["-Wl,--defsym=%s=%d" % (symbol, value) for symbol, value in (
        ("BOOT_AT", board["boot"]), ("BOOT_BYTES", board["boot_bytes"]), ("FLASH_AT", board["flash"]),
        ("FLASH_BYTES", board["flash_bytes"]), ("RAM_AT", board["ram"]), ("RAM_BYTES", board["ram_bytes"]),
        ("STACK_BYTES", STACK))]


def build(board, name, source, selftest, folder, opt, cflags=(), steps=False, cc="gcc"):
    """The object of the model, compiled by cc and ready to be linked, and the program around it."""
    upper = name.upper()
    common = ["-ffunction-sections", "-fdata-sections", "-I" + folder, "-I" + BOARD]
    net = source
    if source.endswith(".c"):
        net = os.path.join(folder, "board_net.o")
        hooks = ["-include", "board.h", "-D%s_STEP_BEGIN(i)=board_step_begin(i)" % upper,
                 "-D%s_STEP_END(i)=board_step_end(i)" % upper] if steps else []
        words = [opt, "-std=gnu11", *common, *hooks, *cflags, "-c", source, "-o", net]
        gcc(board, *words) if cc == "gcc" else call(clang_words(board) + words)
    elf = os.path.join(folder, "board.elf")
    around = ["-include", "board.h", "-D%s_SELFTEST_MAIN" % upper, "-D%s_SELFTEST_SAY(text)=board_say(text)" % upper,
              "-D%s_SELFTEST_BEGIN(set)=board_begin(board_stack_pointer())" % upper,
              "-D%s_SELFTEST_END(set)=board_end()" % upper]
    test = os.path.join(folder, "board_test.o")
    gcc(board, "-O1", *common, *around, "-c", selftest, "-o", test)
    start = os.path.join(folder, "board_start.o")
    gcc(board, "-O2", *common, "-DTICK_INSNS=%du" % board["tick_insns"], "-DTICK_PARTS=%du" % board["tick_parts"],
        "-c", os.path.join(BOARD, "start.c"), "-o", start)
    link(board, start, test, net, "-o", elf)
    return net, elf


def sections(board, elf):
    sizes = {}
    for line in call([board["prefix"] + "size", "-A", elf]).splitlines():
        words = line.split()
        if len(words) == 3 and words[0].startswith("."):
            sizes[words[0]] = int(words[1])
    return sizes


def flash(board, name, net, folder):
    """Code with the functions of libgcc that it uses, and constants: the model linked alone."""
    elf = os.path.join(folder, "board_flash.elf")
    link(board, "-nostdlib", "-Wl,-e,%s_run" % name, "-Wl,-u,%s_init" % name,
         "-Wl,--unresolved-symbols=ignore-all", net, "-lgcc", "-o", elf)
    s = sections(board, elf)
    return s.get(".text", 0), sum(v for k, v in s.items() if k.startswith((".rodata", ".srodata", ".data", ".sdata")))


def run(board, elf, timeout):
    command = ["qemu-system-" + board["system"], "-M", board["machine"], "-display", "none", "-serial", "none",
               "-monitor", "none", "-semihosting-config", "enable=on,target=native", "-icount", "shift=0,sleep=off",
               "-kernel", elf] + (["-bios", "none"] if board["system"].startswith("riscv") else [])
    if board["emulated"]:
        command += ["-cpu", board["emulated"]]
    try:
        r = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        raise Failed("QEMU did not end within %d s: %s" % (timeout, elf))
    out, result = r.stdout + r.stderr, {"status": r.returncode, "steps": {}}
    for key, value in re.findall(r"board (insns|stack) ([0-9a-f]+)", out):
        result[key] = int(value, 16)
    for step, value in re.findall(r"board step ([0-9a-f]+) ([0-9a-f]+)", out):
        result["steps"][int(step, 16)] = int(value, 16)
    if "insns" not in result:
        raise Failed("QEMU: status %d\n%s" % (r.returncode, out[-2000:]))
    return result


def defines(header, opt, cc="gcc"):
    """Numbers of a header; NAME_STACK_BYTES may depend on the compiler and on whether it optimises."""
    holds = {"!defined(__OPTIMIZE__) && defined(__GNUC__)": opt == "-O0", "defined(__clang__)": cc == "clang"}
    values, wanted, done = {}, True, False
    for line in open(header):
        words = line.split()
        condition = line.split(" ", 1)[-1].strip()
        if line.startswith("#if ") and condition in holds:
            wanted = done = holds[condition]
        elif line.startswith("#elif ") and condition in holds:
            wanted = not done and holds[condition]
            done = done or wanted
        elif line.startswith("#else"):
            wanted = not done
        elif line.startswith("#endif"):
            wanted, done = True, False
        elif wanted and len(words) > 2 and words[0] == "#define" and words[2].rstrip("u").isdigit():
            values[words[1]] = int(words[2].rstrip("u"))
    return values


def measure(board, name, source, selftest, folder, opt="-O2", cflags=(), steps=False, timeout=550, cc="gcc"):
    net, elf = build(board, name, source, selftest, folder, opt, cflags, steps, cc)
    result = run(board, elf, timeout)
    result["code"], result["rodata"] = flash(board, name, net, folder)
    return result
