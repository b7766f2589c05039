"""TensorFlow's checkpoints (tensor bundles), as far as the writers of models and of wrong files need them:

    checkpoint.write("m", {"w/.ATTRIBUTES/VARIABLE_VALUE": (type, dims, bytes)}, shards=2)      m/variables/variables.index, .data-...

The index is a sorted table of LevelDB: blocks of entries whose keys share prefixes, an index block, a footer.
"""
import pathlib
import struct

import wire


def crc32c(b):
    sum = 0xffffffff
    for c in b:
        sum ^= c
        for _ in range(8):
            sum = sum >> 1 ^ (0x82f63b78 if sum & 1 else 0)
    return sum ^ 0xffffffff


def masked(b):
    sum = crc32c(b)
    return ((sum >> 15 | sum << 17) + 0xa282ead8) & 0xffffffff


def block(entries, restarts=16):
    out, places, last = b"", [], b""
    for i, (key, value) in enumerate(entries):
        shared = 0
        if i % restarts == 0:
            places.append(len(out))
        else:
            while shared < min(len(key), len(last)) and key[shared] == last[shared]:
                shared += 1
        out += wire.varint(shared) + wire.varint(len(key) - shared) + wire.varint(len(value)) + key[shared:] + value
        last = key
    return out + b"".join(struct.pack("<I", p) for p in places or [0]) + struct.pack("<I", max(len(places), 1))


def table(entries, each=3, kind=0):
    """entries: {key: value}, both bytes; `each` of them make a block; kind: of compression."""
    out, index, entries = b"", [], sorted(entries.items())

    def add(b):
        nonlocal out
        place = wire.varint(len(out)) + wire.varint(len(b))
        out += b + bytes([kind]) + struct.pack("<I", masked(b + bytes([kind])))
        return place

    for i in range(0, len(entries), each):
        part = entries[i:i + each]
        index.append((part[-1][0], add(block(part))))
    footer = add(block([])) + add(block(index, 1))
    return out + footer + bytes(40 - len(footer)) + struct.pack("<Q", 0xdb4775248b80fb57)


def entry(type, dims, shard, offset, size, sum, more=b""):
    """BundleEntryProto; what is 0 is left out, as protobuf does."""
    shape = b"".join(wire.data(2, wire.number(1, d)) for d in dims)
    out = wire.number(1, type) + wire.data(2, shape)
    for field, v in ((3, shard), (4, offset), (5, size)):
        out += wire.number(field, v) if v else b""
    return out + wire.varint(6 << 3 | 5) + struct.pack("<I", sum) + more


def text_bytes(s):
    """A string as the one element of a tensor: its length, a checksum of the lengths, its bytes; and the checksum of all."""
    head = wire.varint(len(s))
    sums = struct.pack("<I", len(s))
    mark = struct.pack("<I", masked(sums))
    return head + mark + s, masked(sums + mark + s)


def write(folder, tensors, shards=1, change={}, **how):
    """tensors: {key: (type, dimensions, bytes), or bytes for a string}, one shard after the other; change: {key: {argument of entry: value}}."""
    at = pathlib.Path(folder) / "variables"
    at.mkdir(parents=True, exist_ok=True)
    data = [b""] * shards
    entries = {b"": wire.number(1, shards) + wire.data(3, wire.number(1, 1))}
    for i, (key, a) in enumerate(sorted(tensors.items())):
        shard = i % shards
        if isinstance(a, bytes):
            type, dims, (b, sum) = 7, (), text_bytes(a)
        else:
            type, dims, b = a
            sum = masked(b)
        says = dict(type=type, dims=dims, shard=shard, offset=len(data[shard]), size=len(b), sum=sum)
        entries[key.encode()] = entry(**{**says, **change.get(key, {})})
        data[shard] += b
    (at / "variables.index").write_bytes(table(entries, **how))
    for k, b in enumerate(data):
        (at / f"variables.data-{k:05d}-of-{shards:05d}").write_bytes(b)
