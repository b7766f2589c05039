/* texts.c - the list of all texts of an ONNX file (texts.h). It is kept from run to run as ac_reading.memo. */
#include "import/onnx/proto/texts.h"
#include "base/visible.h"
#include "import/build/name_map.h"

#include <string.h>

enum { MOST_RUNS = 16 };

struct ac_onx_texts {
    ac_vocabulary_pair words; /* found by the runs before this one */
    ac_name_map place;        /* of the others in `fresh` */
    AC_VEC(const char *) fresh;
    int32_t runs;
};

void ac_onx_texts_begin(ac_onx *r)
{
    ac_region *region = r->cx->region;
    struct ac_onx_texts *t = r->reading->memo;
    if (!t)
        r->reading->memo = t = AC_NEW(region, struct ac_onx_texts);
    r->texts = t;
    t->words.any.other = true;
    t->runs++;
    if (!t->fresh.n)
        return;
    const int32_t n = t->words.known.n;
    const char **all = AC_NEW_N(region, const char *, (int64_t)n + t->fresh.n + 1);
    for (int32_t i = 0; i < n; i++)
        all[i] = t->words.known.text[i];
    memcpy(all + n, t->fresh.item, (size_t)t->fresh.n * sizeof *all);
    ac_vocabulary_sort(&t->words, all, n + t->fresh.n);
    t->fresh.n = 0;
    t->place = (ac_name_map){0};
}

void ac_onx_texts_end(ac_onx *r)
{
    if (!r->texts->fresh.n || r->pb.failed)
        return;
    if (r->texts->runs < MOST_RUNS)
        r->reading->repeat = true;
    else
        ac_error(r->cx, (ac_place){.file = r->reading->file.path}, E0014,
                 "which texts its nodes use depends on other texts, more than %d deep", MOST_RUNS);
}

static bool is_utf8(const char *s)
{
    for (int n; *s; s += n)
        if (!(n = ac_utf8_length(s)))
            return false;
    return true;
}

int ac_onx_text_code(ac_onx *r, ac_place at, ac_span text, int64_t *code)
{
    struct ac_onx_texts *t = r->texts;
    *code = 0;
    if (!ac_pb_spend(&r->pb, (int64_t)text.n / 16 + 1))
        return AC_FAIL;
    const bool zero = text.n && memchr(text.p, 0, text.n);
    const char *s = zero ? NULL : ac_intern_n(r->cx, text.n ? (const char *)text.p : "", text.n);
    if (!s || !is_utf8(s))
        return ac_error(r->cx, at, E0012, "a text %s", s ? "is not UTF-8" : "has a zero byte");
    *code = ac_vocabulary_code(&t->words.known, s, text.n);
    if (*code < t->words.known.n)
        return AC_OK;
    int32_t *place = ac_name_put(r->cx->region, &t->place, s);
    if (*place < 0) {
        *place = t->fresh.n;
        ac_push(r->cx->region, &t->fresh, s);
    }
    *code = (int64_t)t->words.known.n + 1 + *place;
    return AC_OK;
}

int ac_onx_text_codes(ac_onx *r, ac_place at, ac_pb_list list, int64_t *code)
{
    ac_span text;
    for (int64_t i = 0; ac_pb_next(&r->pb, &list, &text); i++)
        AC_TRY(ac_onx_text_code(r, at, text, &code[i]));
    return r->pb.failed ? AC_FAIL : AC_OK;
}

const ac_vocabulary *ac_onx_words(const ac_onx *r, bool any)
{
    return any ? &r->texts->words.any : &r->texts->words.known;
}

ac_tensor *ac_onx_text(const ac_onx *r, ac_tensor *t, bool any)
{
    if (t)
        t->words = ac_onx_words(r, any);
    return t;
}

ac_tensor *ac_onx_coded(ac_onx_node *n, int64_t count, const int64_t *code)
{
    int32_t *v = AC_NEW_N(n->r->cx->region, int32_t, count + 1);
    for (int64_t i = 0; i < count; i++)
        v[i] = (int32_t)code[i];
    return ac_onx_text(n->r, ac_tensor_const(n->b.g, n->b.base, AC_I32, 1, &count, v), false);
}
