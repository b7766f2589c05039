/* identifiers.c - names of C in scope, and names that C reserves. */
#include "codegen/c/identifiers.h"

#include "base/ascii.h"
#include "ir/dtype/dtype.h"

#include <string.h>

/* An open hash table of interned names; never walked, so the order of pointers cannot show in the output. */
struct ac_cname {
    const char *name;
    int32_t live; /* how many scopes hold it: 0 or 1 */
    int32_t next; /* the number to try next */
    enum { UNASKED, FREE, RESERVED_WORD } word;
};

static const char *const RESERVED[] = {
    "auto",   "break",    "case",      "char",      "const",    "continue", "default",  "do",       "double",
    "else",   "enum",     "extern",    "float",     "for",      "goto",     "if",       "inline",   "int",
    "long",   "register", "restrict",  "return",    "short",    "signed",   "sizeof",   "static",   "struct",
    "switch", "typedef",  "union",     "unsigned",  "void",     "volatile", "while",    "asm",      "typeof",
    "bool",   "true",     "false",     "nullptr",   "alignas",  "alignof",  "linux",    "unix",     "i386",
    "size_t", "int8_t",   "int16_t",   "int32_t",   "int64_t",  "uint8_t",  "uint16_t", "uint32_t", "uint64_t",
    "memcpy", "memset",   "memmove",   "constexpr", "errno",    "near",     "far",      "main",     "thread_local",
    "new",    "delete",   "this",      "class",     "template", "operator", "private",  "public",   "protected",
    "friend", "virtual",  "namespace", "using",     "throw",    "try",      "catch",    "typename", "threadIdx",
    "and",    "or",       "not",       "xor",       "blockIdx", "export",   "explicit", "mutable",  "wchar_t",
};

bool ac_c_reserved(const char *word)
{
    for (size_t i = 0; i < sizeof RESERVED / sizeof *RESERVED; i++)
        if (word[0] == RESERVED[i][0] && !strcmp(word, RESERVED[i]))
            return true;
    return false;
}

/* A header of a model must not be called like one of these: #include <time.h> finds the model's time.h if its folder is
 * given with -I. Headers of C, POSIX, Windows and Arduino, of intrinsics, and those that these include. */
static const char *const HEADERS[] = {
    // clang-format off
    "_ansi", "_newlib_version", "aio", "alloca", "Arduino", "arm_acle", "arm_bf16", "arm_cde", "arm_cmse",
    "arm_fp16", "arm_mve", "arm_mve_types", "arm_neon", "arm_sve", "arm_vector_types", "assert", "byteswap",
    "complex", "conio", "cpio", "ctype", "cuda", "direct", "dirent", "dlfcn", "elf", "endian", "err", "errno",
    "error", "fcntl", "features", "fenv", "float", "fnmatch", "fts", "ftw", "getopt", "glob", "grp", "iconv",
    "inttypes", "io", "iso646", "langinfo", "libgen", "libintl", "limits", "link", "locale", "malloc", "math",
    "memory", "mm_malloc", "monetary", "mqueue", "netdb", "newlib", "poll", "process", "pthread", "pty", "pwd",
    "regex", "resolv", "riscv_vector", "sched", "search", "semaphore", "setjmp", "signal", "spawn", "stab",
    "stdalign", "stdarg", "stdatomic", "stdbit", "stdbool", "stdckdint", "stddef", "stdint", "stdio", "stdlib",
    "stdnoreturn", "string", "strings", "syscall", "syslimits", "sysexits", "syslog", "tar", "termios", "tgmath",
    "threads", "time", "uchar", "ucontext", "ulimit", "unistd", "utime", "utmp", "values", "wchar", "wctype",
    "windows", "wordexp",
    // clang-format on
};

bool ac_c_is_header(const char *stem)
{
    static const char INTRINSICS[] = "intrin"; /* x86: a hundred of them, which include each other */
    const size_t n = strlen(stem), tail = sizeof INTRINSICS - 1;
    if (n >= tail && !strchr(stem, '_') && ac_same_letters(stem + n - tail, INTRINSICS))
        return true;
    for (size_t i = 0; i < sizeof HEADERS / sizeof *HEADERS; i++)
        if (ac_same_letters(HEADERS[i], stem)) /* some file systems ignore the case */
            return true;
    return false;
}

const char *ac_c_upper(ac_region *r, const char *name)
{
    char *upper = ac_strdup(r, name);
    for (char *p = upper; *p; p++)
        *p = ac_upper(*p);
    return upper;
}

void ac_c_names_open(ac_cnames *n, ac_ctx *cx, const char *prefix)
{
    *n = (ac_cnames){.cx = cx, .prefix = prefix};
}

static struct ac_cname *find(ac_cnames *t, const char *name)
{
    if (t->n * 2 >= t->cap) {
        struct ac_cname *old = t->slot;
        int32_t old_cap = t->cap;
        t->cap = old_cap ? old_cap * 2 : 64;
        t->slot = AC_NEW_N(t->cx->region, struct ac_cname, t->cap);
        t->n = 0;
        for (int32_t i = 0; i < old_cap; i++)
            if (old[i].name)
                *find(t, old[i].name) = old[i];
    }
    uint32_t k = (uint32_t)((uintptr_t)name >> 4) * 2654435761u;
    for (k &= (uint32_t)t->cap - 1; t->slot[k].name && t->slot[k].name != name;)
        k = (k + 1) & ((uint32_t)t->cap - 1);
    if (!t->slot[k].name) {
        t->slot[k].name = name;
        t->n++;
    }
    return &t->slot[k];
}

/* "f32", "i8x16", "f32x16_u": names of types and endings of helpers. */
static bool is_type_word(const char *s)
{
    for (int d = 1; d < AC_DTYPE_COUNT; d++) {
        size_t n = strlen(ac_dtype_name((ac_dtype)d));
        if (strncmp(s, ac_dtype_name((ac_dtype)d), n))
            continue;
        const char *p = s + n;
        if (*p == 'x')
            p += 1 + strspn(p + 1, "0123456789");
        if (!*p || !strcmp(p, "_u"))
            return true;
    }
    return false;
}

static bool must_not_be(const ac_cnames *t, const char *s)
{
    const size_t n = strlen(t->prefix);
    if (ac_c_reserved(s))
        return true;
    if (!strncmp(s, t->prefix, n) && s[n] == '_')
        return true;
    if (s[0] == '_' || is_type_word(s))
        return true;
    for (const char *p = strchr(s, '_'); p; p = strchr(p + 1, '_'))
        if (is_type_word(p + 1))
            return true;
    return false;
}

/* Checked once for each interned name, as most occur again. */
static bool is_reserved(ac_cnames *t, const char *name)
{
    struct ac_cname *slot = find(t, name);
    if (slot->word == UNASKED)
        slot->word = must_not_be(t, name) ? RESERVED_WORD : FREE;
    return slot->word == RESERVED_WORD;
}

/* Only letters, digits and underscores, a letter first. */
static const char *identifier(ac_cnames *t, const char *base)
{
    char s[80];
    size_t n = 0;
    if (!base || !(*base == '_' || ac_is_letter(*base)))
        s[n++] = 'v';
    for (; base && *base && n < sizeof s - 16; base++) {
        s[n++] = ac_is_alnum(*base) ? *base : '_';
    }
    s[n] = 0;
    const char *name = ac_intern(t->cx, s);
    if (!is_reserved(t, name))
        return name;
    if (s[0] == '_')
        s[0] = 'v';
    s[n++] = '_';
    s[n] = 0;
    return ac_intern(t->cx, s);
}

/* The first of STEM<from>, STEM<from + 1>, .. that is available and has not been used before; `counter`, a name, counts
 * them. NULL: for every number it would begin like a symbol of the model or end like a type. */
static const char *take_numbered(ac_cnames *t, const char *counter, const char *stem, int32_t from)
{
    for (int32_t in_a_row = 0; in_a_row < 2;) {
        const char *name = ac_internf(t->cx, "%s%d", stem, from + find(t, counter)->next++);
        in_a_row = is_reserved(t, name) ? in_a_row + 1 : 0;
        struct ac_cname *slot = find(t, name);
        if (!in_a_row && !slot->live) {
            slot->live = 1;
            return name;
        }
    }
    return NULL;
}

const char *ac_c_name_take(ac_cnames *t, const char *base)
{
    const char *name = identifier(t, base);
    struct ac_cname *first = find(t, name);
    if (!first->live) {
        first->live = 1;
        return name;
    }
    const char *other = take_numbered(t, name, ac_internf(t->cx, "%s_", name), 1);
    return other ? other : take_numbered(t, name, ac_internf(t->cx, "v%s_", name), 1);
}

bool ac_c_name_claim(ac_cnames *t, const char *name)
{
    struct ac_cname *own = find(t, ac_intern(t->cx, name));
    const bool available = !own->live;
    own->live = 1;
    return available;
}

const char *ac_c_name_number(ac_cnames *t, const char *base)
{
    const char *stem = ac_internf(t->cx, "%s#", base); /* no identifier: counts only */
    const char *name = take_numbered(t, stem, base, 0);
    return name ? name : ac_c_name_number(t, "t");
}

void ac_c_name_drop(ac_cnames *t, const char *name)
{
    find(t, name)->live = 0;
    find(t, name)->next = 0;
}
