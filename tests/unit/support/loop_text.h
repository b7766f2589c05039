/* loop_text.h - shared by tests of the loop IR: a context to build in, and functions as text. */
#ifndef AC_TESTS_UNIT_SUPPORT_LOOP_TEXT_H
#define AC_TESTS_UNIT_SUPPORT_LOOP_TEXT_H
#include "ir/loop/builder.h"
#include "tests/unit/support/expect.h"
#include "tests/unit/support/fresh.h"

static inline const char *dump(const ac_loop_fn *fn)
{
    ac_sink s;
    ac_sink_open(&s, &cx);
    ac_loop_dump(&s, fn);
    return ac_sink_text(&s);
}

/* Parses a function, which must print as the same text. */
static inline ac_loop_fn *reread(const ac_loop_fn *fn)
{
    const char *text = dump(fn);
    ac_loop_fn *back = NULL;
    if (ac_loop_read(&cx, "dump", text, strlen(text), &back) != AC_OK) {
        FAILED("a dump can be read");
        ac_diags_print(&cx.diags, stdout, false);
        puts(text);
        exit(1);
    }
    if (strcmp(text, dump(back)) != 0) {
        FAILED("read(dump(f)) dumps the same");
        puts(text);
        puts(dump(back));
    }
    return back;
}
#endif
