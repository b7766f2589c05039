#!/bin/sh
# The operating system is behind base/sys/sys.h: no other file of the tool includes a header of POSIX or Windows, or
# names a function of them that C does not have. runtime/ is for hosts and boards alike, and has its own #if; base/hash
# asks a processor. usage: systems.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cd "$src" || exit 1
headers='unistd|fcntl|dirent|dlfcn|pthread|signal|spawn|termios|poll|glob|pwd|sched|ftw|libgen|strings'
headers="$headers|ucontext|execinfo|threads|windows|io|direct|process|psapi|sys/[a-z_]+"
headers="$headers|mach[-a-z]*/[a-z_]+|arpa/[a-z]+|netinet/[a-z]+"
calls='fopen|freopen|popen|getline|open_memstream|fmemopen|memmem|isatty|fileno|unlink|mkdtemp|aligned_alloc'
calls="$calls|posix_memalign|nanosleep|clock_gettime|realpath|readlink|strcasecmp|setenv|dlopen|dlsym|alloca"
# shellcheck disable=SC2086
find arenac.h $folders -path runtime -prune -o -name '*.[ch]' -print >"$tmp/files"
[ "$(wc -l <"$tmp/files")" -gt 900 ] || die "only $(wc -l <"$tmp/files") files seen: the check itself is broken"
# the exceptions of each file
may() {
    case $1 in
    base/sys/sys_*) return 0 ;;
    base/hash/sha256.c) [ "$2" = sys/auxv.h ] ;;          # which instructions this processor has
    planner/certcheck/* | prove/replay/*) [ "$2" = fopen ] ;; # programs of one file in C alone
    *) return 1 ;;
    esac
}
look() { # FILES...
    grep -nHE "^ *# *include <($headers)\.h>" "$@" | sed 's/^\([^:]*\):[0-9]*:.*<\(.*\)>.*/\1 \2/'
    grep -nHE "(^|[^a-z_>.])($calls) ?\(" "$@" | grep -vE ':[0-9]+:( \*|/\*|static |[^"]*"[^"]*\b('"$calls"') ?\()' |
        sed -E "s/^([^:]*):[0-9]*:(.*[^a-z_]|)($calls) ?\(.*/\1 \3/"
}
# shellcheck disable=SC2046
look $(cat "$tmp/files") >"$tmp/found"
while read -r file what; do
    may "$file" "$what" || fail "$file uses $what: add what it is for to base/sys/sys.h, for POSIX and Windows"
done <"$tmp/found"
grep -q '^base/sys/sys_posix.c unistd.h$' "$tmp/found" || fail "sys_posix.c was not seen: the check itself is broken"
# planted ones are found
printf '#include <unistd.h>\nint f(void)\n{\n    return isatty(1);\n}\n' >"$tmp/planted.c"
seen=$(look "$tmp/planted.c" | sed 's/.* //' | tr '\n' ' ')
[ "$seen" = "unistd.h isatty " ] || fail "look: $seen"
