# where code and rodata go: several with commas; names that no string or assembler would keep as they are
# arenac kind: compile ../../../models/digits_int8.tflite --section code=.itcm,qspi
# arenac name: compile ../../../models/digits_int8.tflite --section 'rodata=.a"b'
# arenac empty: compile ../../../models/digits_int8.tflite --section rodata=
