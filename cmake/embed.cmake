# embed.cmake - files of the tree inside the tool, so that `--emit rt`, `python` and `bench` work wherever the tool is:
# an array NAME_files of TYPE, and NAME_count, as HEADER declares them.
#   cmake -D OUT=rt_files.c -D NAME=ac_rt -D HEADER=host/runtime_files.h -D TYPE=ac_rt_file -D FILES="a|b"
#         -P embed.cmake
set(text "/* Made by cmake/embed.cmake. */\n#include \"${HEADER}\"\n\n")
set(rows "")
set(n 0)
string(REPLACE "|" ";" FILES "${FILES}")
foreach(f ${FILES})
  get_filename_component(name ${f} NAME)
  file(READ ${f} hex HEX)
  string(REGEX REPLACE "(................................)" "\\1\n" hex "${hex}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," hex "${hex}")
  string(APPEND text "static const unsigned char f${n}[] = {\n${hex}\n};\n")
  string(APPEND rows "    {\"${name}\", f${n}, sizeof f${n}},\n")
  math(EXPR n "${n} + 1")
endforeach()
string(APPEND text "\nconst ${TYPE} ${NAME}_files[] = {\n${rows}};\nconst int ${NAME}_count = ${n};\n")
file(WRITE ${OUT} "${text}")
