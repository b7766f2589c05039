/* fuzz_taps.c - stored marks of results (run --taps) from anybody, for a model that takes little time: floats, a
 * constant, integers. */
#define FUZZ_MUTATE fuzz_mutate_text
#include "tests/fuzz/mutate_text.h"

#include "tests/fuzz/fuzz_door.h"

static const char MODEL[] = "graph g {\n"
                            "  input x: f32[1,4]\n"
                            "  const c: f32[1,4] = [1, -2, 3e9, 0]\n"
                            "  y: f32[1,4] = add(x, c)\n"
                            "  s: i8[1,4] q(0.5, 3) = quantize(y)\n"
                            "  output s\n"
                            "}\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH], taps[FUZZ_PATH];
    const char *const model[] = {path};
    const int fd = fuzz_put_file(MODEL, sizeof MODEL - 1, path), own = fuzz_put_file(data, size, taps);
    arenac *a = fuzz_open();
    arenac_set(a, "taps", taps);
    arenac_set(a, "skip", "epilogue"); /* both operators are steps */
    fuzz_close(a, arenac_verb_run(a, model, 1));
    close(own);
    close(fd);
    return 0;
}
