/* test_peek.c - formats of protobuf are recognised by the fields that they have, however many others there are: fields
 * of every kind and number in front of each model, between its own, and after them. */
#include "base/file.h"
#include "import/build/reading.h"
#include "tests/unit/support/in_context.h"

#include <string.h>

extern const ac_format ac_onnx_format, ac_caffe_format, ac_tf_format, ac_tflite_format;

static size_t put_varint(uint8_t *to, uint64_t v)
{
    size_t n = 0;
    for (; v >= 128; v >>= 7)
        to[n++] = (uint8_t)(v | 128);
    to[n++] = (uint8_t)v;
    return n;
}

/* Field 1000 + k of one of the four kinds. */
static size_t put_unknown(uint8_t *to, uint32_t k)
{
    static const uint8_t KIND[] = {0, 1, 2, 5}, BYTES[] = {1, 8, 4, 4};
    size_t n = put_varint(to, (uint64_t)(k % 3 ? 1000 + k : 40) << 3 | KIND[k % 4]);
    if (KIND[k % 4] == 2)
        to[n++] = BYTES[k % 4];
    memset(to + n, 0x11, BYTES[k % 4]);
    return n + BYTES[k % 4];
}

static void recognised(ac_ctx *cx, ac_span model, const ac_format *format, uint32_t unknown, uint64_t cut)
{
    static const ac_format *const ALL[] = {&ac_tflite_format, &ac_caffe_format, &ac_onnx_format, &ac_tf_format};
    size_t n = 0;
    uint8_t *all = ac_alloc(cx->region, model.n + (size_t)unknown * 32 + 1);
    for (uint32_t k = 0; k < unknown; k++)
        n += put_unknown(all + n, k);
    memcpy(all + n, model.p, model.n);
    n += model.n;
    for (uint32_t k = 0; k < unknown; k++)
        n += put_unknown(all + n, k);
    for (size_t i = 0; i < sizeof ALL / sizeof *ALL; i++)
        CHECK(ALL[i]->looks((ac_span){all, n - cut}) == (ALL[i] == format));
}

static void with_unknown_fields(ac_ctx *cx, ac_span model, const ac_format *format)
{
    recognised(cx, model, format, 0, 0);
    recognised(cx, model, format, 0, 1);
    recognised(cx, model, format, 3, 0);
    recognised(cx, model, format, 5000, 0);
}

static void tests(ac_ctx *cx)
{
    /* ir_version, graph with a node and a name, opset_import with a version */
    static const uint8_t ONNX[] = "\x08\x08\x3a\x08\x0a\x02\x0a\x00\x12\x02gr\x42\x02\x10\x0d";
    static const struct {
        const char *name;
        const ac_format *format;
    } MODELS[] = {{"squares.caffemodel", &ac_caffe_format},
                  {"tf_cnn.pb", &ac_tf_format},
                  {"tf_saved/saved_model.pb", &ac_tf_format}};
    with_unknown_fields(cx, (ac_span){ONNX, sizeof ONNX - 1}, &ac_onnx_format);
    for (size_t i = 0; i < sizeof MODELS / sizeof *MODELS; i++) {
        ac_file f = {0};
        CHECK(ac_file_open(cx, ac_strf(cx->region, "%s/models/%s", SOURCE_DIR, MODELS[i].name), &f) == AC_OK);
        if (i != 2)
            with_unknown_fields(cx, (ac_span){f.data, f.n}, MODELS[i].format);
        else
            recognised(cx, (ac_span){f.data, f.n}, MODELS[i].format, 0, 0);
        ac_file_close(&f);
    }
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
