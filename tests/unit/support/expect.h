/* expect.h - reports failures of a unit test. A test file includes it once; it holds the test's counter. Output: one
 * line per failure on stderr, "file:line: where: what". */
#ifndef AC_TESTS_UNIT_SUPPORT_EXPECT_H
#define AC_TESTS_UNIT_SUPPORT_EXPECT_H
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;
static const char *now = ""; /* the case being checked, printed with a failure; "" if the line suffices */

static inline void check_failed(const char *file, int line, const char *what, bool end)
{
    failures++;
    fprintf(stderr, "%s:%d: %s%sfailed: %s\n", file, line, now, *now ? ": " : "", what);
    if (end)
        exit(1);
}

/* CHECK counts a failure and goes on; MUST ends the test, if nothing after it would make sense; FAILED describes the
 * failure. */
#define CHECK(e)     ((e) ? (void)0 : check_failed(__FILE__, __LINE__, #e, false))
#define MUST(e)      ((e) ? (void)0 : check_failed(__FILE__, __LINE__, #e, true))
#define FAILED(what) check_failed(__FILE__, __LINE__, what, false)

/* if (OUT_OF_MEMORY(cx)): where a test goes on when memory runs out; in a frame that stays until the end. */
static inline jmp_buf *check_oom(void)
{
    static jmp_buf here;
    return &here;
}
#define OUT_OF_MEMORY(cx) setjmp(*((cx).heap.on_oom = check_oom()))

/* The exit status of main(): 0 when every check held. */
static inline int check_done(void)
{
    if (failures)
        fprintf(stderr, "%d checks failed\n", failures);
    return failures != 0;
}
#endif
