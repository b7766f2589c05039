# a symbol without its weights is planned
# arenac: plan ../../../models/dense-symbol.json --dim data.0=1 --dim data.1=12
