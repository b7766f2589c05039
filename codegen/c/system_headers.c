/* system_headers.c - names of headers that a generated one must not have: #include <time.h> finds the model's time.h if
 * its folder is given with -I. Headers of C, POSIX, Windows and Arduino, and of intrinsics. */
#include "base/ascii.h"
#include "codegen/c/identifiers.h"

static const char *const HEADERS[] = {
    // clang-format off
    "aio", "alloca", "Arduino", "arm_acle", "arm_mve", "arm_neon", "assert", "byteswap", "complex", "conio", "cpio",
    "ctype", "cuda", "direct", "dirent", "dlfcn", "elf", "emmintrin", "endian", "err", "errno", "error", "fcntl",
    "features", "fenv", "float", "fnmatch", "fts", "ftw", "getopt", "glob", "grp", "iconv", "immintrin", "inttypes",
    "io", "iso646", "langinfo", "libgen", "libintl", "limits", "link", "locale", "malloc", "math", "memory", "monetary",
    "mqueue", "netdb", "poll", "process", "pthread", "pty", "pwd", "regex", "resolv", "riscv_vector", "sched", "search",
    "semaphore", "setjmp", "signal", "smmintrin", "spawn", "stab", "stdalign", "stdarg", "stdatomic", "stdbit",
    "stdbool", "stdckdint", "stddef", "stdint", "stdio", "stdlib", "stdnoreturn", "string", "strings", "syscall",
    "sysexits", "syslog", "tar", "termios", "tgmath", "threads", "time", "uchar", "ucontext", "ulimit", "unistd",
    "utime", "utmp", "values", "wchar", "wctype", "windows", "wordexp",
    // clang-format on
};

bool ac_c_is_header(const char *stem)
{
    for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++)
        if (ac_same_letters(HEADERS[i], stem)) /* some file systems ignore the case */
            return true;
    return false;
}
