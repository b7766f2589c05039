# arenac: python ../../../models/gate.ag --name class
