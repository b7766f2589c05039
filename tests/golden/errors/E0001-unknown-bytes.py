# bytes of no format
open("E0001-unknown-bytes.bin", "wb").write(bytes(range(200, 220)))
