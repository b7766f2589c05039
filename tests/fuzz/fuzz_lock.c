/* fuzz_lock.c - fuzzes lock files. A lock file that can be read round-trips, and three forms of diff accept it. */
#define FUZZ_MUTATE fuzz_mutate_text
#include "tests/fuzz/mutate_text.h"

#include "base/bytes.h"
#include "base/sink.h"
#include "planner/report/lock.h"
#include "tests/fuzz/fuzz_main.h"

static int read_once(ac_ctx *cx, const void *what)
{
    const ac_span *s = what;
    ac_lock *lock, *again;
    ac_sink to;
    const int rc = ac_lock_read(cx, "fuzz", (const char *)s->p, s->n, &lock);
    if (rc == AC_OK) {
        ac_sink_open(&to, cx);
        ac_lock_write(&to, lock);
        if (ac_lock_read(cx, "again", to.text, to.n, &again) != AC_OK || !ac_lock_compare(lock, again).same ||
            ac_lock_check(cx, lock, again) != AC_OK) {
            ac_diags_print(&cx->diags, stderr, false);
            abort();
        }
        ac_lock_diff_text(&to, lock, again, true);
        ac_lock_diff_md(&to, lock, again);
        ac_lock_diff_json(&to, lock, again);
    }
    return fuzz_status(cx, rc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_guarded(read_once, &(ac_span){data, size});
    return 0;
}
