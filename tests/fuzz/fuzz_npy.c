/* fuzz_npy.c - NumPy's arrays from anybody: a .npy, and the same bytes as an .npz archive. Every byte of an array that
 * was read is touched; texts become codes. */
#include "base/bytes.h"
#include "host/npy_texts.h"
#include "host/npz.h"
#include "tests/fuzz/fuzz_door.h"

static uint32_t touched(const ac_npy *a)
{
    uint32_t sum = 0;
    for (int64_t i = 0; i < a->bytes; i++)
        sum += a->data[i];
    return sum;
}

static int read_array(ac_ctx *cx, const void *what)
{
    static const char *const TEXT[] = {"", "a", "red", "\xc3\xa4"};
    static const ac_vocabulary WORDS = {.text = TEXT, .n = 4, .other = true};
    const ac_tensor codes = {.dtype = AC_I32, .words = &WORDS};
    const ac_span *s = what;
    ac_npy a = {0};
    volatile uint32_t sum;
    const int rc = ac_npy_parse(cx, "fuzz", s->p, s->n, &a);
    if (rc == AC_OK) {
        int64_t n = a.bytes > 0;
        for (int32_t d = 0; d < a.rank; d++)
            n *= a.dim[d];
        if (a.bytes < n)
            abort(); /* less than a byte for each element */
        sum = touched(&a);
        ac_npy_encode(cx, &a, &codes);
        sum += touched(&a);
        (void)sum;
    }
    return fuzz_status(cx, rc);
}

static int read_archive(ac_ctx *cx, const void *what)
{
    ac_file f = {0};
    ac_npz_list list = {0};
    volatile uint32_t sum;
    const int rc = ac_npz_read(cx, what, &f, &list);
    for (int32_t i = 0; rc == AC_OK && i < list.n; i++)
        sum = touched(&list.item[i].array);
    (void)sum;
    ac_file_close(&f);
    return fuzz_status(cx, rc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    fuzz_guarded(read_array, &(ac_span){data, size});
    if (size < 4 || memcmp(data, "PK", 2) != 0)
        return 0;
    const int fd = fuzz_put_file(data, size, path);
    fuzz_guarded(read_archive, path);
    close(fd);
    return 0;
}
