/* npy.c - reading and writing .npy files. */
#include "host/npy.h"

#include "base/ascii.h"

#include <string.h>

static int bad(ac_ctx *cx, const ac_npy *a, const char *what)
{
    ac_error(cx, (ac_place){.file = a->path}, E0304, "not a usable .npy file: %s", what);
    return ac_help(cx, "save it with numpy.save(path, numpy.ascontiguousarray(array))");
}

/* The value after 'key': in the header's Python dictionary, or NULL. */
static const char *value_of(const char *text, const char *key)
{
    const char *at = strstr(text, key);
    if (!at)
        return NULL;
    at += strlen(key);
    while (*at == '\'' || *at == '"' || *at == ':' || *at == ' ')
        at++;
    return at;
}

static int parse_header(ac_ctx *cx, ac_npy *a, const char *text)
{
    const char *descr = strstr(text, "descr"), *shape = value_of(text, "shape"),
               *order = value_of(text, "fortran_order");
    if (!descr || !shape || !order || *shape != '(')
        return bad(cx, a, "its header lacks descr, fortran_order or shape");
    descr = strchr(descr, ':');
    while (descr && (*descr == ':' || *descr == ' '))
        descr++;
    if (!descr || (*descr != '\'' && *descr != '"'))
        return bad(cx, a, "structured arrays are not supported");
    size_t n = strcspn(++descr, "'\"");
    if (n == 0 || n >= sizeof a->descr)
        return bad(cx, a, "unknown element type");
    memcpy(a->descr, descr, n);
    for (const char *p = shape + 1; *p != ')';) {
        if (ac_is_digit(*p)) {
            int64_t d = 0;
            for (; ac_is_digit(*p); p++)
                if (d > (INT64_MAX - 9) / 10)
                    return bad(cx, a, "a dimension is too large");
                else
                    d = d * 10 + (*p - '0');
            if (a->rank == 32)
                return bad(cx, a, "more than 32 dimensions");
            a->dim[a->rank++] = d;
        } else if (*p == ',' || *p == ' ' || *p == 'L') {
            p++;
        } else {
            return bad(cx, a, "its shape is malformed");
        }
    }
    if (!strncmp(order, "True", 4) && a->rank > 1)
        return bad(cx, a, "it is in Fortran order");
    return AC_OK;
}

/* Numbers have one digit, 1 to 8. Texts have a number of bytes (S), or of characters of 4 bytes each (U). */
static int element_size(ac_ctx *cx, ac_npy *a)
{
    enum { LONGEST = 1 << 24 };
    const char kind = a->descr[1], *digit = kind ? a->descr + 2 : "";
    const bool text = kind == 'U' || kind == 'S';
    a->unit = 0;
    for (; ac_is_digit(*digit) && a->unit < LONGEST; digit++)
        a->unit = a->unit * 10 + (*digit - '0');
    if (kind == 'O')
        return bad(cx, a, "it holds objects of Python; for texts: array.astype(str)");
    if (*digit || digit == a->descr + 2 || a->unit > LONGEST || a->unit < 1 || (!text && a->unit > 8))
        return bad(cx, a, "unknown element type");
    if (kind == 'U' && a->descr[0] != '<')
        return bad(cx, a, "its texts are big-endian");
    a->unit *= kind == 'U' ? 4 : 1;
    return AC_OK;
}

int ac_npy_read(ac_ctx *cx, const char *path, ac_npy *out)
{
    memset(out, 0, sizeof *out);
    AC_TRY(ac_file_open(cx, path, &out->file));
    return ac_npy_parse(cx, path, out->file.data, out->file.n, out);
}

int ac_npy_parse(ac_ctx *cx, const char *path, const uint8_t *p, size_t n, ac_npy *out)
{
    out->path = path;
    if (n < 10 || memcmp(p, "\x93NUMPY", 6))
        return bad(cx, out, "it does not start with the bytes \\x93NUMPY");
    size_t head = p[6] == 1 ? 10 : 12;
    size_t len = (size_t)p[8] | (size_t)p[9] << 8;
    if (p[6] > 1) {
        if (n < 12)
            return bad(cx, out, "it is truncated");
        len |= (size_t)p[10] << 16 | (size_t)p[11] << 24;
    }
    if (p[6] < 1 || p[6] > 3 || len > n - head)
        return bad(cx, out, "it is truncated or of an unknown version");
    char *text = ac_alloc(cx->region, len + 1);
    memcpy(text, p + head, len);
    AC_TRY(parse_header(cx, out, text));
    out->data = p + head + len;
    int64_t count = 1;
    for (int32_t i = 0; i < out->rank; i++)
        if (!ac_mul_ok(count, out->dim[i], &count))
            return bad(cx, out, "its shape overflows");
    AC_TRY(element_size(cx, out));
    if (!ac_mul_ok(count, out->unit, &out->bytes))
        return bad(cx, out, "its shape overflows");
    if ((uint64_t)out->bytes > n - head - len)
        return bad(cx, out, "it has fewer elements than its shape needs");
    return AC_OK;
}

void ac_npy_close(ac_npy *a)
{
    ac_file_close(&a->file);
}

void ac_npy_write_head(ac_sink *to, const char *descr, int32_t rank, const int64_t *dim)
{
    ac_sink head;
    ac_sink_open(&head, to->cx);
    ac_putf(&head, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
    for (int32_t i = 0; i < rank; i++)
        ac_putf(&head, "%s%lld", i ? ", " : "", (long long)dim[i]);
    ac_put(&head, rank == 1 ? ",), }" : "), }");
    while ((10 + head.n + 1) % 64)
        ac_putc(&head, ' ');
    ac_putc(&head, '\n');
    ac_put_n(to, "\x93NUMPY\1\0", 8);
    ac_putc(to, (char)(head.n & 255));
    ac_putc(to, (char)(head.n >> 8));
    ac_put_n(to, head.text, head.n);
}

void ac_npy_write(ac_sink *to, ac_dtype dtype, int32_t rank, const int64_t *dim, const void *data)
{
    ac_npy_write_head(to, ac_dtype_npy(dtype), rank, dim);
    ac_put_n(to, data, (size_t)ac_dtype_size(dtype, ac_dim_product(dim, 0, rank)));
}

static const char *shape_text(ac_ctx *cx, int32_t rank, const int64_t *dim)
{
    char *s = ac_strdup(cx->region, "[");
    for (int32_t i = 0; i < rank; i++)
        s = dim[i] < 0 ? ac_strf(cx->region, "%s%s?", s, i ? "," : "")
                       : ac_strf(cx->region, "%s%s%lld", s, i ? "," : "", (long long)dim[i]);
    return ac_strf(cx->region, "%s]", s);
}

int ac_npy_fits(ac_ctx *cx, const ac_npy *a, const ac_tensor *t, const char *option)
{
    const char *want = ac_dtype_npy(t->dtype);
    bool type_ok = !strcmp(want + 1, a->descr + 1) && (a->descr[0] == want[0] || a->descr[2] == '1');
    bool shape_ok = a->rank == t->rank;
    for (int32_t i = 0; shape_ok && i < t->rank; i++)
        shape_ok = t->dim[i] < 0 || t->dim[i] == a->dim[i];
    if (type_ok && shape_ok)
        return AC_OK;
    ac_error(cx, (ac_place){.file = a->path}, E0304, "%s is %s %s, but '%s' is %s %s", option, a->descr,
             shape_text(cx, a->rank, a->dim), t->name, ac_dtype_name(t->dtype), shape_text(cx, t->rank, t->dim));
    if (!type_ok && t->words)
        return ac_help(cx, "give an array of texts: numpy.array(texts, dtype=str), or of their codes, '%s'", want);
    if (!type_ok)
        return ac_help(cx, "give an array of NumPy type '%s' (numpy: array.astype)", want);
    const bool reshapes = a->bytes == ac_dtype_size(t->dtype, ac_tensor_count(t));
    return ac_help(cx, reshapes ? "the number of elements is right: array.reshape of NumPy gives the model's shape"
                                : "give an array of the model's shape");
}
