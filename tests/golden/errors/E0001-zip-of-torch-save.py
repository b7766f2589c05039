# what torch.save writes
import zipfile

with zipfile.ZipFile("E0001-zip-of-torch-save.pt", "w") as z:
    for name in ["w/data.pkl", "w/byteorder", "w/data/0", "w/version"]:
        z.writestr(name, b"")
