/* fuzz_whole.c - fuzzes everything from two files and a command line to text: read, check, plan, prove, compile, emit,
 * run by the evaluator, verify, diff. Nothing is written and no program is started.
 *
 *     plan stripe=auto overlap=on emit=svg,json        the first line: a verb and options; '@' is the second file
 *     graph g { ... }                                  the model or CSV, up to the first byte 0xff
 *     <0xff> arenac-lock 1 ...                         a lock, an array, tuned schedules, marks: files for options
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -DARENAC_LIBFUZZER ... && ./fuzz_whole CORPUS/
 *     ./fuzz_whole FILE...                             without libFuzzer: runs each file; with -v prints the result
 *
 * Checks that it ends, with status 0 exactly if no error was recorded, and never with an internal error. */
#include "tests/fuzz/fuzz_door.h"

enum { MOST_OPTIONS = 16, LINE = 512 };

static void set_options(arenac *a, char *line, const char *second)
{
    char *save = NULL, *word = strtok_r(line, " ", &save);
    for (int n = 0; word && n < MOST_OPTIONS; word = strtok_r(NULL, " ", &save), n++) {
        char value[LINE + FUZZ_PATH], *equals = strchr(word, '=');
        const char *from = equals ? equals + 1 : "", *at = strrchr(from, '@');
        if (at && (at[1] || (at > from && at[-1] != '='))) /* an address, as --mem has it */
            at = NULL;
        if (equals)
            *equals = '\0';
        snprintf(value, sizeof value, "%.*s%s", at ? (int)(at - from) : LINE, from, at ? second : "");
        if (!fuzz_leaves_out(word))
            arenac_set(a, word, equals ? value : NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = memchr(data, '\n', size < LINE ? size : LINE);
    const size_t n = end ? (size_t)(end - data) : 0;
    char line[LINE + 1], first_path[FUZZ_PATH], second_path[FUZZ_PATH];
    if (!end || memchr(data, '\0', n))
        return 0;
    memcpy(line, data, n);
    line[n] = '\0';
    const uint8_t *model = end + 1, *stop = memchr(model, 0xff, size - n - 1);
    const size_t bytes = stop ? (size_t)(stop - model) : size - n - 1, rest = stop ? size - n - 2 - bytes : 0;
    const int first = fuzz_put_file(model, bytes, first_path),
              second = fuzz_put_file(stop ? stop + 1 : model, rest, second_path);
    const char *const path[] = {first_path, second_path};
    char *options = line + strcspn(line, " ");
    if (*options)
        *options++ = '\0';
    arenac *a = fuzz_open();
    set_options(a, options, second_path);
    fuzz_close(a, arenac_errors(a) ? -1 : fuzz_run_verb(a, line, path, 2));
    close(first);
    close(second);
    return 0;
}
