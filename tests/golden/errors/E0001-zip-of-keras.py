# the archive of Keras 3
import zipfile

with zipfile.ZipFile("E0001-zip-of-keras.keras", "w") as z:
    for name in ["metadata.json", "config.json", "model.weights.h5"]:
        z.writestr(name, b"")
