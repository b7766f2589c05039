/* weigh.c - the flash of a model: its object linked alone, with the functions of libgcc that it needs; those of the C
 * library do not count, since a program has them anyway. */
#include "host/firmware/board.h"
#include "host/runtime_files.h"

#include <stdlib.h>
#include <string.h>

typedef AC_VEC(const char *) words;

static void add_place(ac_region *r, words *w, const char *name, uint32_t value)
{
    ac_push(r, w, ac_strf(r, "-Wl,--defsym=%s=%u", name, value));
}

const char *const *ac_board_link(ac_ctx *cx, const ac_board *b, const char *dir, const char *const *objects,
                                 const char *elf)
{
    enum { STACK = 256 << 10 };
    static const char *const FLAGS[] = {"-nostartfiles", "-static", "-Wl,--gc-sections", "-Wl,--no-warn-rwx-segments",
                                        "-T"};
    ac_region *r = cx->region;
    words w = {0};
    if (*b->link)
        ac_push(r, &w, b->link);
    for (size_t i = 0; i < sizeof FLAGS / sizeof *FLAGS; i++)
        ac_push(r, &w, FLAGS[i]);
    ac_push(r, &w, ac_strf(r, "%s/link.ld", dir));
    add_place(r, &w, "BOOT_AT", b->boot);
    add_place(r, &w, "BOOT_BYTES", b->boot_bytes);
    add_place(r, &w, "FLASH_AT", b->flash);
    add_place(r, &w, "FLASH_BYTES", b->flash_bytes);
    add_place(r, &w, "RAM_AT", b->ram);
    add_place(r, &w, "RAM_BYTES", b->ram_bytes);
    add_place(r, &w, "STACK_BYTES", STACK);
    for (; *objects; objects++)
        ac_push(r, &w, *objects);
    ac_push(r, &w, "-lgcc");
    ac_push(r, &w, "-o");
    ac_push(r, &w, elf);
    ac_push(r, &w, NULL);
    return ac_board_gcc(cx, b, w.item);
}

/* "size -A": a line for each section, its name and its bytes. */
static void take_sizes(const char *at, ac_bytes *code, ac_bytes *constants)
{
    *code = *constants = 0;
    for (; *at; at += strcspn(at, "\n"), at += *at == '\n') {
        const size_t name = strcspn(at, " \n");
        const long bytes = strtol(at + name, NULL, 10);
        if (name == 5 && !strncmp(at, ".text", 5))
            *code = bytes;
        else if (!strncmp(at, ".rodata", 7) || !strncmp(at, ".data", 5))
            *constants += bytes;
    }
}

bool ac_board_weigh(const ac_module *m, const ac_board *b, const char *dir, const char *object, ac_bytes *code,
                    ac_bytes *constants)
{
    ac_ctx *cx = m->cx;
    ac_region *r = cx->region;
    const char *elf = ac_strf(r, "%s/alone.elf", dir), *log = ac_strf(r, "%s/sizes", dir);
    const char *const what[] = {"-nostdlib",
                                ac_strf(r, "-Wl,-e,%s_%s", m->name, m->streamed ? "run_row" : "run"),
                                ac_strf(r, "-Wl,-u,%s_init", m->name),
                                "-Wl,--unresolved-symbols=ignore-all",
                                object,
                                NULL};
    const char *const size[] = {ac_strf(r, "%ssize", b->prefix), "-A", elf, NULL};
    ac_tool tool[] = {{.argv = ac_board_link(cx, b, dir, what, elf), .log = ac_strf(r, "%s/link", dir)},
                      {.argv = size, .log = log}};
    for (int i = 0; i < 2; i++) {
        ac_tools_run(&tool[i], 1);
        if (tool[i].status)
            return false;
    }
    take_sizes(ac_board_read(cx, log), code, constants);
    return *code > 0;
}

void ac_board_files_into(ac_ctx *cx, const char *dir, ac_board_outputs *out)
{
    for (int i = 0; i < ac_board_count; i++) {
        ac_sink *to = AC_NEW(cx->region, ac_sink);
        ac_sink_open(to, cx);
        ac_put_n(to, ac_board_files[i].data, ac_board_files[i].n);
        ac_push(cx->region, out, ((ac_output){to, ac_strf(cx->region, "%s/%s", dir, ac_board_files[i].name)}));
    }
}
