/* fuzz_tune.c - a tune file from anybody, for a small model: those that begin like one as they are, others after a head
 * that fits the model, without which a file is passed over. */
#define FUZZ_MUTATE fuzz_mutate_text
#include "tests/fuzz/mutate_text.h"

#include "driver/door/door.h"
#include "driver/stage/stage.h"
#include "tests/fuzz/fuzz_door.h"

static void plan_with(const char *model, const char *tuned)
{
    arenac *a = fuzz_open();
    arenac_set(a, "tuned", tuned);
    arenac_set(a, "target", "x86-64-v3"); /* it has register tiles */
    arenac_set(a, "winograd", "4");
    fuzz_close(a, arenac_read(a, &model, 1) || arenac_compile(a) ? -1 : 0);
}

static void plan_fitting(const char *model, const uint8_t *data, size_t size)
{
    enum { HEAD = 256 };
    char path[FUZZ_PATH], *text = malloc(HEAD + size);
    arenac *a = fuzz_open();
    if (!text || arenac_read(a, &model, 1))
        exit(1);
    const int n = snprintf(text, HEAD, "arenac-tune 1\nversion %s\ntarget x86-64-v3\nmodel %s\n", arenac_version(),
                           ac_source_sha256(&a->work.cx, &a->work.source));
    arenac_close(a);
    if (size)
        memcpy(text + n, data, size);
    const int fd = fuzz_put_file(text, (size_t)n + size, path);
    plan_with(model, path);
    close(fd);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char model[FUZZ_PATH], path[FUZZ_PATH];
    const int fd = fuzz_put_file(FUZZ_MODEL, sizeof FUZZ_MODEL - 1, model), own = fuzz_put_file(data, size, path);
    if (size > 6 && !memcmp(data, "arenac", 6))
        plan_with(model, path);
    else
        plan_fitting(model, data, size);
    close(own);
    close(fd);
    return 0;
}
