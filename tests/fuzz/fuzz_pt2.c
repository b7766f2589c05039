/* fuzz_pt2.c - programs of torch.export from anybody. An input other than an archive is the JSON of one: of the
 * program, and of its weights, in one object (`config`). So mutants pass the checks of sizes and CRCs. */
#define FUZZ_FORMAT "pt2"
#define FUZZ_GUESS  1
#define FUZZ_MUTATE fuzz_mutate_text
#define FUZZ_WRAP   fuzz_archive
#include "tests/fuzz/mutate_text.h"

#include "base/hash/crc32.h"

typedef struct archive {
    uint8_t *bytes, *directory;
    size_t n, of_directory;
    uint16_t members;
} archive;

static size_t put(uint8_t *to, size_t at, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[at + (size_t)i] = (uint8_t)(v >> 8 * i);
    return at + (size_t)bytes;
}

/* Version, flags, method, time and date; CRC and sizes; lengths of name and extra field. */
static size_t put_fields(uint8_t *to, size_t at, const char *name, const void *data, size_t n)
{
    at = put(to, put(to, at, 20, 2), 0, 8);
    at = put(to, put(to, put(to, at, ac_crc32(0, data, n), 4), n, 4), n, 4);
    return put(to, put(to, at, strlen(name), 2), 0, 2);
}

static void add(archive *a, const char *name, const void *data, size_t n)
{
    const size_t begin = a->n, length = strlen(name);
    a->n = put_fields(a->bytes, put(a->bytes, a->n, 0x04034b50, 4), name, data, n);
    memcpy(a->bytes + a->n, name, length);
    if (n)
        memcpy(a->bytes + a->n + length, data, n);
    a->n += length + n;
    size_t at = put(a->directory, put(a->directory, a->of_directory, 0x02014b50, 4), 20, 2);
    at = put(a->directory, put_fields(a->directory, at, name, data, n), 0, 8);
    at = put(a->directory, put(a->directory, at, 0, 2), begin, 4);
    memcpy(a->directory + at, name, length);
    a->of_directory = at + length;
    a->members++;
}

/* The archive, in memory of its own; NULL: data is one. */
static uint8_t *fuzz_archive(const uint8_t *data, size_t size, size_t *n)
{
    static const uint8_t WEIGHTS[1024] = {0, 0, 128, 63};
    if (size >= 2 && data[0] == 'P' && data[1] == 'K')
        return NULL;
    archive a = {.bytes = malloc(4096 + 3 * size), .directory = malloc(2048)};
    if (!a.bytes || !a.directory)
        exit(1);
    add(&a, "net/data/weights/weight_0", WEIGHTS, sizeof WEIGHTS);
    add(&a, "net/data/weights/model_weights_config.json", data, size);
    add(&a, "net/models/model.json", data, size);
    add(&a, "net/archive_format", "pt2", 3);
    const size_t at = a.n;
    memcpy(a.bytes + a.n, a.directory, a.of_directory);
    size_t end = put(a.bytes, put(a.bytes, a.n + a.of_directory, 0x06054b50, 4), 0, 4);
    end = put(a.bytes, put(a.bytes, put(a.bytes, end, a.members, 2), a.members, 2), a.of_directory, 4);
    *n = put(a.bytes, put(a.bytes, end, at, 4), 0, 2);
    free(a.directory);
    return a.bytes;
}

#include "tests/fuzz/fuzz_import.h"
