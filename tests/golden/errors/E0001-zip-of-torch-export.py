# what torch.export.save writes
import zipfile

with zipfile.ZipFile("E0001-zip-of-torch-export.pt2", "w") as z:
    for name in ["e/data/weights/weight_0", "e/models/model.json", "e/archive_format"]:
        z.writestr(name, b"")
