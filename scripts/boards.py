#!/usr/bin/env python3
"""Compares the memories of ST's boards in driver/request/boards.def with those that ST states for the chips.

    scripts/boards.py DATA      DATA: a checkout of https://github.com/embassy-rs/stm32-data-generated

That repository publishes the memories of STM32CubeMX and STM32CubeProgrammer, a JSON file a chip. Every memory of a row
must lie within the chip's flash and RAM. Memory outside of the chip (xip, sdram), memories that the data does not have
and boards with other chips are not compared. Ends with 1 if a row differs."""
import json
import pathlib
import re
import sys

UNITS = {"K": 1 << 10, "M": 1 << 20}


def rows(text):
    """(board, chip, {memory: (address, bytes)}) of each row with an STM32."""
    macros = dict(re.findall(r'#define (\w+)\(size\) (.*)', text))
    for name, chip, _, memories in re.findall(r'BOARD\("([^"]+)", "(STM32\w+)([^"]*)", \w+,\s*(.*?), -?\d+, "', text):
        for macro, body in macros.items():
            body = body.replace('FLASH(size, "0x08000000")', '"flash:" size "@0x08000000,ro"')
            memories = re.sub(macro + r'\(("\w+")\)', lambda m, b=body: b.replace("size", m[1]), memories)
        memories = "".join(re.findall(r'"([^"]*)"', memories))
        found = re.findall(r"(\w+):(\d+)([KM])@(0x[0-9a-f]+)", memories)
        yield name, chip, {m: (int(at, 16), int(size) * UNITS[unit]) for m, size, unit, at in found}


def stated(chip):
    """Ranges of the chip's flash and RAM, joined if they touch; its settings cover the same."""
    forms = chip["memory"] if isinstance(chip["memory"][0], list) else [chip["memory"]]
    ranges = []
    for m in sorted(forms[0], key=lambda m: m["address"]):
        if ranges and ranges[-1][1] == m["address"]:
            ranges[-1][1] += m["size"]
        else:
            ranges.append([m["address"], m["address"] + m["size"]])
    return ranges


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    chips = pathlib.Path(sys.argv[1]) / "data" / "chips"
    table = pathlib.Path(__file__).parents[1] / "driver" / "request" / "boards.def"
    compared = differ = 0
    for board, name, memories in rows(table.read_text()):
        file = chips / f"{name}.json"
        if not file.exists():
            print(f"{board}: no data about {name}")
            differ += 1
            continue
        ranges = stated(json.loads(file.read_text()))
        for memory, (at, size) in memories.items():
            if memory in ("xip", "sdram"):
                continue
            if not any(start < at + size and at < end for start, end in ranges):
                print(f"{board}: no data about {memory} at {at:#x}")
                continue
            if not any(start <= at and at + size <= end for start, end in ranges):
                print(f"{board}: {memory} of {size} bytes at {at:#x} is not in {name}")
                differ += 1
            compared += 1
    print(f"{compared} memories compared, {differ} differ")
    sys.exit(1 if differ or not compared else 0)


if __name__ == "__main__":
    main()
