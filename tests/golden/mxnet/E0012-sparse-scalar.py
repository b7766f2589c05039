# a sparse array without dimensions
# arenac: plan dense-symbol.json scalar.params --dim data.0=1 --dim data.1=12
import pathlib
import struct

models = pathlib.Path(__file__).resolve().parents[3] / "models"
pathlib.Path("dense-symbol.json").write_bytes((models / "dense-symbol.json").read_bytes())


def shape(*dims):
    return struct.pack(f"<i{len(dims)}q", len(dims), *dims)


array = struct.pack("<Ii", 0xF993FACA, 1) + shape(0, 4) + shape()  # a V3 array of rows
array += struct.pack("<3i", 1, 0, 0) + struct.pack("<i", 6) + shape(0)
name = b"arg:fc1_weight"
pathlib.Path("scalar.params").write_bytes(struct.pack("<QQQ", 0x112, 0, 1) + array + struct.pack("<QQ", 1, len(name)) +
                                          name)
