# the archive that PyTorch and Keras write
open("E0001-zip.pt", "wb").write(b"PK\3\4" + bytes(26))
