# One static program for any Linux, with the C library musl, by scripts/musl.sh. It opens no plug-ins.
set(CMAKE_C_COMPILER musl-gcc)
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_DISABLE_FIND_PACKAGE_LLVM ON)
