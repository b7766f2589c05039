/* fuzz_custom.c - a file of --custom from anybody, for a model with nodes of operator `o`: planned, compiled, proven.
 * Its functions are not called. */
#define FUZZ_MUTATE fuzz_mutate_text
#include "tests/fuzz/mutate_text.h"

#include "tests/fuzz/fuzz_door.h"

static const char MODEL[] = "graph g {\n"
                            "  input x: f32[2,3,4]\n"
                            "  const w: f32[4] = [1, 2, 3, 4]\n"
                            "  a = relu(x)\n"
                            "  y = custom(a, w) call=\"o\" with=\"k=2 f=0.5\"\n"
                            "  z = custom(y, _, w) call=\"o\" with=\"ints=1,2 mode=a%20b\"\n"
                            "  v = custom(a) call=\"o\" with=\"options=00ff\"\n"
                            "  n = neg(z)\n"
                            "  output n\n"
                            "}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char model[FUZZ_PATH], path[FUZZ_PATH];
    const int fd = fuzz_put_file(MODEL, sizeof MODEL - 1, model), own = fuzz_put_file(data, size, path);
    const char *const file[] = {model};
    arenac *a = fuzz_open();
    arenac_set(a, "custom", path);
    fuzz_close(a, fuzz_run_verb(a, "prove", file, 1));
    close(own);
    close(fd);
    return 0;
}
