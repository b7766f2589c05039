"""How ONNX Runtime adds products of bytes on this machine."""


def saturate():
    """On x86 without VNNI it adds two products in 16 bits: u8 times int8 fits if the latter is from -64 to 64."""
    try:
        with open("/proc/cpuinfo") as f:
            flags = f.read()
    except OSError:
        return False
    return "avx2" in flags and "vnni" not in flags


LEAST_INT8 = -64 if saturate() else -128
