# what torch.jit.save writes
import zipfile

with zipfile.ZipFile("E0001-zip-of-torchscript.pt", "w") as z:
    for name in ["m/data/0", "m/data.pkl", "m/code/__torch__/m.py"]:
        z.writestr(name, b"")
