/* fuzz_options.c - fuzzes options, for a small model: the first line is the verb (check, plan, compile, show, prove,
 * run), each of the others is an option, "name" or "name=value", as in arenac.conf. Nothing is written and no program
 * is started. */
#define FUZZ_MUTATE fuzz_mutate_text
#include "tests/fuzz/mutate_text.h"

#include "tests/fuzz/fuzz_door.h"

enum { MOST = 4096, OPTIONS = 32 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char text[MOST + 1], path[FUZZ_PATH], *save = NULL;
    const char *const model[] = {path};
    if (size > MOST || memchr(data, 0, size))
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    const char *verb = strtok_r(text, "\n", &save);
    if (!verb)
        return 0;
    const int fd = fuzz_put_file(FUZZ_MODEL, sizeof FUZZ_MODEL - 1, path);
    arenac *a = fuzz_open();
    char *line = strtok_r(NULL, "\n", &save);
    for (int n = 0; line && n < OPTIONS; line = strtok_r(NULL, "\n", &save), n++) {
        char *value = strchr(line, '=');
        if (value)
            *value++ = '\0';
        if (!fuzz_leaves_out(line))
            arenac_set(a, line, value);
    }
    fuzz_close(a, arenac_errors(a) ? -1 : fuzz_run_verb(a, verb, model, 1));
    close(fd);
    return 0;
}
