#!/usr/bin/env python3
"""Samples for quantize.sh: the digits of models/ as floats, whole and wrong, in .npy and .npz. usage: MODELS"""
import struct
import sys
import zipfile


def npy(path, descr, shape, data):
    head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    head = head.ljust(117) + "\n"
    text = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data
    with open(path, "wb") as f:
        f.write(text)
    return text


def main():
    raw = open(sys.argv[1] + "/digits.test_x.npy", "rb").read()
    codes = struct.unpack("<360x64b".replace("360x64", str(360 * 64)), raw[-360 * 64 :])
    floats = [(c + 128) / 255 for c in codes]
    half = struct.pack(f"<{180 * 64}f", *floats[: 180 * 64])
    text = npy("x.npy", "<f4", (180, 8, 8, 1), half)
    with zipfile.ZipFile("x.npz", "w", zipfile.ZIP_DEFLATED) as z:
        z.writestr("image.npy", text)
    npy("test.npy", "<f4", (180, 8, 8, 1), struct.pack(f"<{180 * 64}f", *floats[180 * 64 :]))
    npy("few.npy", "<f4", (4, 8, 8, 1), half[: 4 * 64 * 4])
    npy("wide.npy", "<f4", (180, 8, 4, 2), half)
    npy("nan.npy", "<f4", (180, 8, 8, 1), half[:-4] + struct.pack("<f", float("nan")))
    labels = open(sys.argv[1] + "/digits.test_y.npy", "rb").read()[-360:]
    npy("y.npy", "|u1", (180,), labels[:180])
    for i in range(180, 200):
        npy(f"one{i}.npy", "<f4", (1, 8, 8, 1), struct.pack("<64f", *floats[i * 64 : (i + 1) * 64]))


main()
