"""Protobuf's wire format, as far as the writers of models and of wrong files need it."""


def varint(v):
    v &= (1 << 64) - 1
    out = bytearray()
    while v > 127:
        out.append(v & 127 | 128)
        v >>= 7
    return bytes(out + bytes([v]))


def number(field, v):
    return varint(field << 3) + varint(v)


def head(field, size):
    """What stands before `size` bytes of a field that follow."""
    return varint(field << 3 | 2) + varint(size)


def data(field, b):
    b = b.encode() if isinstance(b, str) else b
    return head(field, len(b)) + b
