/* binary_net.c - turns a binary NetParameter into the tree of the text form, so that one reader serves both. Values are
 * written as text; parameters stay where they are (blobs.c). */
#include "import/caffe/caffe.h"

#include "base/format.h"

#include <string.h>

typedef enum kind { END, INT, FLOAT, STR, SUB } kind;

typedef enum message_id {
#define MESSAGE(name) M_##name,
#define INT(number, name)
#define FLOAT(number, name)
#define STR(number, name)
#define SUB(number, name, message)
#include "import/caffe/schema.def"
#undef MESSAGE
#undef INT
#undef FLOAT
#undef STR
#undef SUB
    M_COUNT
} message_id;

typedef struct row {
    kind kind;
    uint32_t number;
    const char *name;
    message_id sub; /* of SUB; of END: the message that starts here */
} row;

static const row ROWS[] = {
#define MESSAGE(name)              {END, 0, #name, M_##name},
#define INT(number, name)          {INT, number, #name, M_COUNT},
#define FLOAT(number, name)        {FLOAT, number, #name, M_COUNT},
#define STR(number, name)          {STR, number, #name, M_COUNT},
#define SUB(number, name, message) {SUB, number, #name, M_##message},
#include "import/caffe/schema.def"
#undef MESSAGE
#undef INT
#undef FLOAT
#undef STR
#undef SUB
    {END, 0, NULL, M_COUNT},
};

static const row *fields_of(message_id id)
{
    const row *x = ROWS;
    while (x->kind != END || x->sub != id)
        x++;
    return x + 1;
}

static void add(ac_caf *r, ac_pt_node *up, const char *name, ac_pt_kind as, const char *text)
{
    ac_pt_add(&r->pt, up, name, as, (ac_span){(const uint8_t *)text, strlen(text)});
}

/* "text" with the bytes that the text form would escape. */
static const char *quoted(ac_caf *r, ac_span s)
{
    char *text = ac_alloc(r->cx->region, 4 * s.n + 3), *to = text;
    *to++ = '"';
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 0x20 || s.p[i] >= 0x7f || s.p[i] == '"' || s.p[i] == '\\')
            to += ac_print(to, 5, "\\%03o", s.p[i]);
        else
            *to++ = (char)s.p[i];
    *to = '"';
    return text;
}

static int read_message(ac_caf *r, ac_span message, message_id id, ac_pt_node *into);

static int read_field(ac_caf *r, ac_span message, const row *f, ac_pt_node *into)
{
    struct {
        ac_pb_list list;
    } one = {{{0}, 0, 0}};
    const ac_pb_field table[] = {{f->number, f->kind == INT || f->kind == FLOAT ? AC_PB_NUMBERS : AC_PB_MANY, 0},
                                 {0, AC_PB_INT, 0}};
    int64_t n = 0;
    ac_span s;
    if (!ac_pb_read(&r->pb, message, table, &one))
        return AC_FAIL;
    if (!one.list.n)
        return AC_OK;
    if (f->kind == INT) {
        const int64_t *v = ac_pb_ints(&r->pb, one.list, &n);
        for (int64_t i = 0; v && i < n; i++)
            add(r, into, f->name, AC_PT_NUMBER, ac_strf(r->cx->region, "%lld", (long long)v[i]));
    } else if (f->kind == FLOAT) {
        const uint8_t *v = ac_pb_fixed(&r->pb, one.list, 4, &n);
        for (int64_t i = 0; v && i < n; i++) {
            float x;
            memcpy(&x, v + 4 * i, sizeof x);
            const char *text = ac_strf(r->cx->region, "%.9g", (double)x);
            add(r, into, f->name, strpbrk(text, "ni") ? AC_PT_WORD : AC_PT_NUMBER, text);
        }
    } else {
        while (ac_pb_next(&r->pb, &one.list, &s)) {
            if (f->kind == STR) {
                add(r, into, f->name, AC_PT_STRING, quoted(r, s));
                continue;
            }
            ac_pt_node *sub = ac_pt_add(&r->pt, into, f->name, AC_PT_MESSAGE, (ac_span){s.p, 0});
            AC_TRY(read_message(r, s, f->sub, sub));
        }
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* Fields come in the order of the schema, which does not change the meaning: order matters only among repeated ones.
 * The schema has no cycles, so the depth is that of the schema. */
static int read_message(ac_caf *r, ac_span message, message_id id, ac_pt_node *into)
{
    for (const row *f = fields_of(id); f->kind != END; f++)
        AC_TRY(read_field(r, message, f, into));
    return AC_OK;
}

int ac_caf_binary(ac_caf *r, ac_span message)
{
    r->pt =
        (ac_pt){.cx = r->cx, .file = r->reading->file.path, .all = message, .root = AC_NEW(r->cx->region, ac_pt_node)};
    r->pt.root->name = "";
    r->pt.root->text.p = message.p;
    return read_message(r, message, M_net, r->pt.root);
}
