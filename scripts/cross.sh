# cross.sh - part of the scripts for other machines: cross TOOLCHAIN [FOLDER [CTEST OPTIONS]] builds with
# cmake/cross/TOOLCHAIN.cmake and runs the quick tests in the emulator that the file names.
cross() {
    name=$1 folder=${2-$root/build-$1}
    shift
    [ $# = 0 ] || shift
    [ $# != 0 ] || set -- -L quick
    cmake -S "$root" -B "$folder" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$root/cmake/cross/$name.cmake" \
        -DARENAC_WERROR=ON >"$folder.log" || { cat "$folder.log"; exit 1; }
    ninja -C "$folder"
    WINEDEBUG=${WINEDEBUG--all} ctest --test-dir "$folder" --output-on-failure -j"$(nproc)" "$@"
}
