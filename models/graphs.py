"""TensorFlow graphs for the writers of models and of wrong files: messages as lists, and both of their forms."""
import struct

import wire

FLOAT, INT32, UINT8, STRING, RESOURCE = 1, 3, 4, 7, 20


# A message is a list of (number, name, value); a value is an int, a float, bytes, text or a message

def binary(fields):
    out = b""
    for field, _, v in fields:
        if isinstance(v, int):
            out += wire.number(field, v)
        elif isinstance(v, float):
            out += wire.varint(field << 3 | 5) + struct.pack("<f", v)
        else:
            out += wire.data(field, binary(v) if isinstance(v, list) else v)
    return out


def text(fields, indent=""):
    out = ""
    for _, name, v in fields:
        if isinstance(v, list):
            out += f"{indent}{name} {{\n{text(v, indent + '  ')}{indent}}}\n"
        elif isinstance(v, (str, bytes)):
            v = v.encode() if isinstance(v, str) else v
            out += indent + name + ': "' + "".join(chr(c) if 32 <= c < 127 and c not in b'"\\' else f"\\{c:03o}" for c in v) + '"\n'
        else:
            out += f"{indent}{name}: {str(v).lower() if isinstance(v, bool) else repr(v)}\n"
    return out


def shape(dims):
    return [(2, "dim", [(1, "size", d)]) for d in dims]


def node(name, op, *inputs, **attrs):
    out = [(1, "name", name), (2, "op", op)] + [(3, "input", i) for i in inputs]
    for key, (number, kind, v) in sorted(attrs.items()):
        out.append((5, "attr", [(1, "key", key), (2, "value", [(number, kind, v)])]))
    return (1, "node", out)
