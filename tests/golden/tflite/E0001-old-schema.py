# the schema before this one
open("old.tflite", "wb").write(b"\x1c\0\0\0TFL2" + bytes(40))
