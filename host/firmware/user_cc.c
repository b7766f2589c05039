/* user_cc.c - a program by the compiler that a user names, and what runs it; see user_cc.h. */
#include "host/firmware/user_cc.h"

#include "base/sys/sys.h"

#include <string.h>

typedef AC_VEC(const char *) words;

static void add_words(ac_region *r, words *w, const char *text)
{
    for (const char *at = text + strspn(text, " "); *at; at += strcspn(at, " "), at += strspn(at, " "))
        ac_push(r, w, ac_strf(r, "%.*s", (int)strcspn(at, " "), at));
}

/* The compiler with its words, then those given (they end with NULL). */
static const char *const *command(ac_ctx *cx, const ac_user_cc *cc, const char *const *more)
{
    words w = {0};
    add_words(cx->region, &w, cc->command);
    if (cc->board && !strstr(cc->command, "-mcpu=") && !strstr(cc->command, "-march="))
        add_words(cx->region, &w, cc->board->cpu);
    if (cc->board && !strstr(cc->command, "-specs="))
        add_words(cx->region, &w, cc->board->libc);
    for (; *more; more++)
        ac_push(cx->region, &w, *more);
    ac_push(cx->region, &w, NULL);
    return w.item;
}

/* ------------------------------------------------------------------ the machine it compiles for */

static bool without_system(const char *machine)
{
    return strstr(machine, "-none") || strstr(machine, "-elf") || strstr(machine, "-eabi-");
}

/* The board of the target; else the one whose -mcpu or -march the command has. */
static const ac_board *board_of(ac_ctx *cx, const ac_user_cc *cc, const ac_target *target)
{
    const ac_board *b = ac_board_of(target);
    for (int32_t i = 0; !b; i++) {
        const ac_board *row = ac_board_at(i);
        if (!row)
            return NULL;
        const char *cpu = ac_strf(cx->region, "%.*s", (int)strcspn(row->cpu, " "), row->cpu);
        for (const char *const *w = cc->words; *w; w++)
            if (!strcmp(*w, cpu))
                b = row;
    }
    return b;
}

int ac_user_cc_open(ac_ctx *cx, const char *dir, const char *text, const ac_target *target, const char *option,
                    ac_user_cc *out)
{
    static const char *const NOTHING[] = {NULL}, *const ASK[] = {"-dumpmachine", NULL};
    ac_user_cc cc = {.command = text, .option = option, .machine = ""};
    cc.words = command(cx, &cc, NOTHING);
    if (!cc.words[0])
        return ac_error(cx, (ac_place){.file = "arenac"}, E0501, "%s is empty, expected a command", option);
    ac_tool t = {.argv = command(cx, &cc, ASK), .log = ac_strf(cx->region, "%s/log", dir)};
    ac_tools_run(&t, 1);
    if (t.status == -1) {
        ac_error(cx, (ac_place){0}, E0303, "cannot run the compiler '%s' of %s", cc.words[0], option);
        return ac_help(cx, "name a compiler that takes -c and -o, with its options: \"gcc -O3\"");
    }
    const char *said = ac_board_read(cx, t.log);
    if (!t.status && strcspn(said, "\n") + 1 == strlen(said))
        cc.machine = ac_strf(cx->region, "%.*s", (int)strcspn(said, "\n"), said);
    if (without_system(cc.machine)) {
        cc.board = board_of(cx, &cc, target);
        if (!cc.board) {
            ac_error(cx, (ac_place){0}, E0502, "%s: no board runs '%s'", option, text);
            return ac_help(cx, "name one of its targets (-t cortex-m4), or its core in the command (-mcpu=cortex-m4)");
        }
    }
    *out = cc;
    return AC_OK;
}

/* ------------------------------------------------------------------ running */

typedef struct machine {
    int number, bits, order;
} machine;

/* The machine of an ELF file; zero: it is not one. */
static machine machine_of(const char *path)
{
    unsigned char head[20] = {0};
    const int f = ac_sys_open(path, AC_SYS_READ, 0);
    const int64_t n = f < 0 ? 0 : ac_sys_read(f, head, sizeof head);
    if (f >= 0)
        ac_sys_close(f);
    if (n < (int64_t)sizeof head || memcmp(head, "\177ELF", 4) != 0)
        return (machine){0};
    const int order = head[5];
    return (machine){head[order == 2 ? 19 : 18] | head[order == 2 ? 18 : 19] << 8, head[4] == 2 ? 64 : 32, order};
}

static const char *emulator_of(machine m)
{
    static const struct {
        machine m;
        const char *name;
    } ROWS[] = {
#define EMULATOR(number, bits, order, name) {{number, bits, order}, name},
#include "host/firmware/emulators.def"
#undef EMULATOR
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++)
        if (ROWS[i].m.number == m.number && ROWS[i].m.bits == m.bits && ROWS[i].m.order == m.order)
            return ROWS[i].name;
    return NULL;
}

static bool runs_here(machine m)
{
    enum { I386 = 3, X86_64 = 62 };
    const machine here = machine_of("/proc/self/exe");
    return !m.bits || !here.bits || (m.number == here.number && m.bits == here.bits && m.order == here.order) ||
           (m.number == I386 && here.number == X86_64);
}

/* NULL: this machine runs it. AC_FAIL: nothing does. */
static int find_emulator(ac_ctx *cx, const char *file, const char **emulator)
{
    const machine m = machine_of(file);
    *emulator = runs_here(m) ? NULL : emulator_of(m);
    if (runs_here(m) || (*emulator && ac_tool_path(cx, *emulator)))
        return AC_OK;
    if (!*emulator)
        return ac_error(cx, (ac_place){0}, E0502, "--selftest-cc: no emulator runs programs of ELF machine %d",
                        m.number);
    ac_error(cx, (ac_place){0}, E0303, "--selftest-cc needs %s, which is not installed", *emulator);
    return ac_help(cx, "Debian: apt install qemu-user");
}

/* ------------------------------------------------------------------ building */

static const char *in(ac_ctx *cx, const char *dir, const char *name)
{
    return ac_strf(cx->region, "%s/%s", dir, name);
}

int ac_user_cc_compile(ac_ctx *cx, const char *dir, const ac_user_cc *cc, const char *from, const char *to)
{
    const char *const more[] = {ac_strf(cx->region, "-I%s", dir), "-c", in(cx, dir, from), "-o", in(cx, dir, to), NULL};
    return ac_tool_need(cx, dir, command(cx, cc, more), NULL);
}

/* The board, with the core and the calling convention of the command (-mcpu, -mfloat-abi, -mabi ...), which all objects
 * of a program have to share. */
const ac_board *ac_user_cc_board(ac_ctx *cx, const ac_user_cc *cc)
{
    ac_board *own = ac_copy(cx->region, cc->board, sizeof *own);
    const char *core = "";
    static const char *const NOTHING[] = {NULL};
    for (const char *const *w = command(cx, cc, NOTHING); *w; w++)
        if (!strncmp(*w, "-m", 2))
            core = ac_strf(cx->region, "%s%s%s", core, *core ? " " : "", *w);
    own->cpu = core;
    return own;
}

static int build_for_board(ac_ctx *cx, const char *dir, ac_user_cc *cc)
{
    ac_region *r = cx->region;
    const ac_board *b = ac_user_cc_board(cx, cc);
    const char *system = ac_strf(r, "qemu-system-%s", b->system);
    const char *const test[] = {"-O1",
                                "-w",
                                ac_strf(r, "-I%s", dir),
                                "-include",
                                "board.h",
                                "-DSTEPS_SAY(text)=board_say(text)",
                                "-c",
                                in(cx, dir, "test.c"),
                                "-o",
                                in(cx, dir, "test.o"),
                                NULL};
    const char *const objects[] = {in(cx, dir, "start.o"), in(cx, dir, "test.o"), in(cx, dir, "model.o"), NULL};
    if (!ac_tool_path(cx, system)) {
        ac_error(cx, (ac_place){0}, E0303, "--selftest-cc needs %s, which is not installed", system);
        return ac_help(cx, "Debian: apt install %s", b->packages);
    }
    AC_TRY(ac_tool_need(cx, dir, ac_board_gcc(cx, b, test), b->packages));
    AC_TRY(ac_board_start(cx, b, dir));
    AC_TRY(ac_tool_need(cx, dir, ac_board_link(cx, b, dir, objects, in(cx, dir, "run")), b->packages));
    cc->runs_on = ac_strf(r, "QEMU's %s", b->machine);
    cc->run = ac_board_qemu(cx, b, in(cx, dir, "run"));
    return AC_OK;
}

/* Linked without shared libraries where they would be another system's. */
static int build_for_system(ac_ctx *cx, const char *dir, ac_user_cc *cc)
{
    const char *emulator;
    AC_TRY(ac_user_cc_compile(cx, dir, cc, "test.c", "test.o"));
    AC_TRY(find_emulator(cx, in(cx, dir, "model.o"), &emulator));
    const char *const link[] = {in(cx, dir, "model.o"), in(cx, dir, "test.o"),       "-o",
                                in(cx, dir, "run"),     emulator ? "-static" : NULL, NULL};
    AC_TRY(ac_tool_need(cx, dir, command(cx, cc, link), NULL));
    const char *const run[] = {emulator ? emulator : in(cx, dir, "run"), emulator ? in(cx, dir, "run") : NULL, NULL};
    cc->runs_on = emulator ? emulator : "this machine";
    cc->run = ac_copy(cx->region, run, sizeof run);
    return AC_OK;
}

int ac_user_cc_build(ac_ctx *cx, const char *dir, ac_user_cc *cc)
{
    AC_TRY(ac_user_cc_compile(cx, dir, cc, "model.c", "model.o"));
    return cc->board ? build_for_board(cx, dir, cc) : build_for_system(cx, dir, cc);
}

ac_tool ac_user_cc_run(ac_ctx *cx, const char *dir, const ac_user_cc *cc)
{
    enum { SECONDS = 1800 };
    ac_tool t = {.argv = cc->run, .log = in(cx, dir, "said"), .seconds = SECONDS};
    ac_tools_run(&t, 1);
    return t;
}
