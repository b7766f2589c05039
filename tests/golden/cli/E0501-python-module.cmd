# arenac: python ../../../models/gate.ag --name ctypes
