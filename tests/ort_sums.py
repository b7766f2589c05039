"""How ONNX Runtime adds products of bytes on this machine."""


def saturate():
    """On x86 without VNNI it adds two products in 16 bits: with u8 beside them, only of int8 from -64 to 64 they fit."""
    try:
        with open("/proc/cpuinfo") as f:
            flags = f.read()
    except OSError:
        return False
    return "avx2" in flags and "vnni" not in flags


LEAST_INT8 = -64 if saturate() else -128
