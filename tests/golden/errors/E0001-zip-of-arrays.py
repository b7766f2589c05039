# numpy.savez
import zipfile

with zipfile.ZipFile("E0001-zip-of-arrays.npz", "w") as z:
    for name in ["x.npy", "y.npy"]:
        z.writestr(name, b"")
