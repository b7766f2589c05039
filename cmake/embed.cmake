# embed.cmake - files of the tree inside the tool, so that `--emit rt`, `python` and `bench` work wherever the tool is:
# an array NAME of ac_rt_file, and NAME_count.
#   cmake -D OUT=rt_files.c -D NAME=ac_rt -D FILES="a|b" -P embed.cmake
set(text "/* Made by cmake/embed.cmake. */\n#include \"host/runtime_files.h\"\n\n")
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
string(APPEND text "\nconst ac_rt_file ${NAME}_files[] = {\n${rows}};\nconst int ${NAME}_count = ${n};\n")
file(WRITE ${OUT} "${text}")
