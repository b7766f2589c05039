/* import.c - which format a file is in, and what it is when it is none. */
#include "import/import.h"
#include "base/bytes.h"
#include "import/caffe/caffe.h"
#include "import/mxnet/mxnet.h"
#include "import/onnx/onnx.h"
#include "import/tf/tf.h"
#include "import/tflite/tflite.h"

#include <string.h>

enum { PEEK = 65536 }; /* text is recognised by what stands in its first bytes */

/* Text. */

static bool contains(ac_span s, const char *word)
{
    size_t n = strlen(word), end = s.n < PEEK ? s.n : PEEK;
    for (size_t i = 0; i + n <= end; i++)
        if (s.p[i] == (uint8_t)word[0] && !memcmp(s.p + i, word, n))
            return true;
    return false;
}

/* The first bytes hold no control characters but those of text. */
static bool is_text(ac_span s)
{
    for (size_t i = 0; i < s.n && i < 1024; i++)
        if ((s.p[i] < 0x20 && s.p[i] != '\n' && s.p[i] != '\r' && s.p[i] != '\t') || s.p[i] == 0x7f)
            return false;
    return s.n > 0;
}

/* Behind blanks and # comments, which all text formats here share. */
static ac_span first_word(ac_span s)
{
    size_t i = ac_span_starts(s, 0, "\xef\xbb\xbf", 3) ? 3 : 0;
    for (; i < s.n && i < PEEK; i++) {
        if (s.p[i] == '#')
            while (i < s.n && s.p[i] != '\n')
                i++;
        if (i >= s.n || !strchr(" \t\r\n", s.p[i]) || !s.p[i])
            break;
    }
    return (ac_span){s.p + i, s.n - i};
}

static bool starts_with(ac_span s, const char *word)
{
    return ac_span_starts(s, 0, word, strlen(word));
}

static bool looks_tflite(ac_span s)
{
    if (s.n >= 6 && s.n < 8) /* cut off inside the mark */
        return ac_span_starts(s, 4, "TFL3", s.n - 4);
    return ac_span_starts(s, 4, "TFL3", 4);
}

static bool looks_text(ac_span s)
{
    ac_span w = first_word(s);
    const size_t n = starts_with(w, "graph") ? 5 : starts_with(w, "weights") ? 7 : 0;
    return is_text(s) && n && (w.n == n || strchr(" \t\r\n#\"", w.p[n]));
}

static bool looks_mxnet(ac_span s)
{
    return is_text(s) && starts_with(first_word(s), "{") && contains(s, "\"nodes\"") &&
           (contains(s, "\"op\"") || contains(s, "\"arg_nodes\""));
}

/* Protobuf: a message has no mark of its own, so what fields its outermost level has must tell. */

typedef struct outline {
    uint64_t numbers, messages; /* bit k: field k occurs as a number, as a length-prefixed run of bytes; k < 64 */
    bool layer;                 /* field 100 occurs as a message (Caffe's layers) */
    bool other;                 /* anything else, or no protobuf at all */
    ac_span first;              /* content of the first field 1 */
} outline;

/* Reads at most 1000 fields; a field that reaches past the end still counts: cut-off files are to be recognised. */
static outline outline_of(ac_span s)
{
    outline o = {0};
    uint64_t at = 0, tag, v;
    for (int i = 0; i < 1000 && at < s.n; i++) {
        if (!ac_span_varint(s, &at, &tag))
            break;
        uint64_t field = tag >> 3, kind = tag & 7;
        if (!field || field > 1000 || (kind != 0 && kind != 2) || !ac_span_varint(s, &at, &v)) {
            o.other = true;
            break;
        }
        if (field >= 64) {
            o.layer |= field == 100 && kind == 2;
            o.other |= field < 100 || field > 200;
        } else if (kind == 0) {
            o.numbers |= UINT64_C(1) << field;
        } else {
            uint64_t left = s.n - at;
            if (field == 1 && !(o.messages & 2))
                ac_span_sub(s, at, v < left ? v : left, &o.first);
            o.messages |= UINT64_C(1) << field;
        }
        if (kind == 2) {
            if (v > s.n - at)
                break;
            at += v;
        }
    }
    return o;
}

#define BIT(k) (UINT64_C(1) << (k))

/* ModelProto: ir_version 1, names 2..4, model_version 5, doc 6, graph 7, opset_import 8, metadata 14, 20, functions 25.
 */
static bool looks_onnx(ac_span s)
{
    outline o = outline_of(s);
    uint64_t strings = BIT(2) | BIT(3) | BIT(4) | BIT(6) | BIT(7) | BIT(8) | BIT(14) | BIT(20) | BIT(25) | BIT(26);
    return !is_text(s) && !o.other && !o.layer && (o.messages & BIT(7)) &&
           ((o.numbers & BIT(1)) || (o.messages & BIT(8))) && !(o.messages & ~strings) &&
           !(o.numbers & ~(BIT(1) | BIT(5)));
}

/* GraphDef: node 1, library 2, version 3, versions 4. A node starts with its name, and its operator follows. */
static bool looks_tensorflow(ac_span s)
{
    outline o = outline_of(s);
    uint64_t at = 1, n;
    if (is_text(s)) {
        static const char *const WORD[] = {"node", "library", "versions", "saved_model_schema_version", "meta_graphs"};
        ac_span w = first_word(s);
        for (size_t i = 0; i < sizeof WORD / sizeof *WORD; i++)
            if (starts_with(w, WORD[i]) && w.n > strlen(WORD[i]) && strchr(" \t\r\n:{<#", w.p[strlen(WORD[i])]))
                return contains(s, "{") || contains(s, "<");
        return false;
    }
    if (!o.other && o.numbers == BIT(1) && o.messages == BIT(2)) /* SavedModel: version 1, graphs 2 */
        return true;
    return !o.other && !o.layer && !(o.messages & ~(BIT(1) | BIT(2) | BIT(4) | BIT(5))) && !(o.numbers & ~BIT(3)) &&
           starts_with(o.first, "\x0a") && ac_span_varint(o.first, &at, &n) &&
           ac_span_starts(o.first, at + n, "\x12", 1);
}

/* NetParameter: name 1, layers 2 (older) or 100, inputs 3, 4, 5 and 8. */
static bool looks_caffe(ac_span s)
{
    if (is_text(s))
        return contains(s, "layer {") || contains(s, "layers {") || contains(s, "layer{") || contains(s, "layers{");
    outline o = outline_of(s);
    uint64_t known = BIT(1) | BIT(2) | BIT(3) | BIT(4) | BIT(6) | BIT(8);
    return !o.other && !(o.messages & ~known) && !(o.numbers & ~(BIT(4) | BIT(5) | BIT(7))) &&
           (o.layer || ((o.messages & BIT(2)) && o.first.n && is_text(o.first)));
}

/* Files that people hand in by mistake. */

static const struct lookalike {
    const char *mark;
    size_t n, at;
    const char *what, *help;
} LOOKALIKES[] = {
#define MARK(text) text, sizeof(text) - 1, 0
    {MARK("<!DOCTYPE"), "an HTML page", "the download went wrong; fetch the file itself, not the page about it"},
    {MARK("<!doctype"), "an HTML page", "the download went wrong; fetch the file itself, not the page about it"},
    {MARK("<html"), "an HTML page", "the download went wrong; fetch the file itself, not the page about it"},
    {MARK("<?xml"), "an XML file", NULL},
    {MARK("version https://git-lfs"), "a git-lfs pointer, not the file it stands for",
     "run `git lfs pull` in its repository"},
    {MARK("PK\003\004"), "a zip archive (PyTorch .pt, Keras .keras, .npz and .task files are such)",
     "unpack it if it holds a model, or export the model to TFLite"},
    {MARK("\037\213"), "a gzip file", "unpack it: zcat FILE | arenac plan -"},
    {MARK("\3757zXZ"), "an xz file", "unpack it: xzcat FILE | arenac plan -"},
    {MARK("BZh"), "a bzip2 file", "unpack it: bzcat FILE | arenac plan -"},
    {MARK("\050\265\057\375"), "a zstd file", "unpack it: zstdcat FILE | arenac plan -"},
    {"ustar", 5, 257, "a tar archive", "unpack it"},
    {MARK("\211HDF\r\n\032\n"), "an HDF5 file (Keras .h5)", "convert it to TFLite: tf.lite.TFLiteConverter"},
    {MARK("\200\002"), "a Python pickle (older PyTorch)", "export the model to TFLite"},
    {MARK("\200\003"), "a Python pickle", "export the model to TFLite"},
    {MARK("\200\004"), "a Python pickle", "export the model to TFLite"},
    {MARK("\200\005"), "a Python pickle", "export the model to TFLite"},
    {MARK("\211PNG"), "a PNG picture", NULL},
    {MARK("\377\330\377"), "a JPEG picture", NULL},
    {MARK("GIF8"), "a GIF picture", NULL},
    {MARK("%PDF"), "a PDF document", NULL},
    {MARK("\177ELF"), "a program or library (ELF)", NULL},
    {MARK("MZ"), "a program (Windows)", NULL},
    {MARK("#!"), "a script", NULL},
    {MARK("\223NUMPY"), "a NumPy array", "name the model first; arrays go with --input KEY=FILE.npy"},
    {MARK("GGUF"), "a GGUF file (llama.cpp)", NULL},
    {MARK("\022\001\0\0\0\0\0\0"), "an MXNet .params file", "name the -symbol.json file first"},
    {"TFL2", 4, 4, "a TFLite file of an old schema (TFL2)", "convert the model again"},
    {"ET12", 4, 4, "an ExecuTorch program", "export the model to TFLite"},
#undef MARK
};

static const char CSV_HELP[] = "`arenac plan FILE` packs it without a model";

static int not_a_model(ac_ctx *cx, ac_place at, const char *what, const char *help)
{
    ac_error(cx, at, E0001, "not a model: this looks like %s", what);
    return help ? ac_help(cx, "%s", help) : AC_FAIL;
}

/* Nothing reads it; say what it is, or at least what is seen. */
static int unknown(ac_ctx *cx, const ac_file *f, ac_span s)
{
    ac_place at = {.file = f->path};
    if (!s.n)
        return ac_error(cx, at, E0001, "the file is empty");
    for (size_t i = 0; i < sizeof LOOKALIKES / sizeof *LOOKALIKES; i++)
        if (ac_span_starts(s, LOOKALIKES[i].at, LOOKALIKES[i].mark, LOOKALIKES[i].n))
            return not_a_model(cx, at, LOOKALIKES[i].what, LOOKALIKES[i].help);
    if (is_text(s) && contains(s, ",") && contains(s, "size") &&
        (contains(s, "lower") || contains(s, "start") || contains(s, "begin")))
        return not_a_model(cx, at, "a table of lifetimes (CSV)", CSV_HELP);
    if (is_text(s) && contains(s, "\"class_name\""))
        return not_a_model(cx, at, "a Keras model in JSON, which has no weights",
                           "convert the trained model to TFLite");
    char *seen = ac_alloc(cx->region, 64), *to = seen;
    for (size_t i = 0; i < s.n && i < 16; i++) {
        if (is_text(s))
            *to++ = (char)(s.p[i] < 0x20 ? ' ' : s.p[i] < 0x7f ? s.p[i] : '?');
        else
            to += snprintf(to, 4, "%s%02x", i ? " " : "", s.p[i]);
    }
    ac_error(cx, at, E0001, "unknown format; the file starts with %s",
             is_text(s) ? ac_strf(cx->region, "'%s'", seen) : seen);
    return ac_help(cx, "arenac recognises a model by its content; --from FORMAT overrides that");
}

/* The formats. */

static int read_text(ac_reading *r)
{
    ac_text_head head;
    AC_TRY(ac_graph_read_text(r->cx, r->file.path, (const char *)r->file.data, r->file.n, &head, &r->g));
    r->out.format = "text";
    r->out.file_ops = r->g->node.n;
    r->out.channels_first = head.channels_first;
    r->out.weights = head.weights;
    r->out.declared = true;
    return AC_OK;
}

static const ac_format ac_text_format = {.title = "arenac's text form", .read = read_text};

static const struct {
    const char *name;
    bool (*looks)(ac_span s);
    const ac_format *format;
} FORMATS[] = {
#define FORMAT(name, looks, format) {name, looks, &format},
#include "import/formats.def"
#undef FORMAT
};

static const char *const NAMES[] = {
#define FORMAT(name, looks, format) name,
#include "import/formats.def"
#undef FORMAT
};

enum { N_FORMATS = sizeof FORMATS / sizeof *FORMATS };

const char *const *ac_import_formats(int32_t *n)
{
    *n = N_FORMATS;
    return NAMES;
}

bool ac_import_operator(int32_t of, int32_t i, ac_operator *out)
{
    const ac_operators *t = FORMATS[of].format->operators;
    for (const ac_operator *row = t ? t->row : NULL; t && row < t->row + t->n; row++) {
        if (!row->name || i-- > 0)
            continue;
        *out = *row;
        out->domain = row->domain ? row->domain : "";
        out->op = t->becomes ? t->becomes(row) : row->op;
        out->reason = t->becomes && out->op ? NULL : row->reason;
        return true;
    }
    return false;
}

bool ac_import_in_order(const ac_file *first, const ac_file *second)
{
    const ac_span a = {first->data, first->n}, b = {second->data, second->n};
    return is_text(a) || !is_text(b);
}

static int read_as(ac_ctx *cx, const ac_format *x, const ac_file *f, const ac_import_options *opt, ac_imported *out)
{
    if (opt->second && !x->weights) {
        ac_error(cx, (ac_place){.file = opt->second->path}, E0501,
                 "a second file is given, but %s keeps everything in one", x->title);
        return ac_help(cx, "arenac takes one model at a time");
    }
    return ac_reading_start(cx, x, f, opt, out);
}

int ac_import(ac_ctx *cx, const ac_file *f, const ac_import_options *opt, ac_imported *out)
{
    static const ac_import_options NONE = {.from = NULL};
    ac_span s = {f->data, f->n};
    opt = opt ? opt : &NONE;
    const char *from = opt->from;
    *out = (ac_imported){.graph = NULL};
    for (int32_t i = 0; i < N_FORMATS; i++)
        if (from ? !strcmp(from, NAMES[i]) : FORMATS[i].looks(s))
            return s.n ? read_as(cx, FORMATS[i].format, f, opt, out) : unknown(cx, f, s);
    if (!from)
        return unknown(cx, f, s);
    const char *near = ac_closest(from, NAMES, N_FORMATS);
    ac_error(cx, (ac_place){0}, E0501, "--from '%s': no such format", from);
    if (near)
        ac_help(cx, "did you mean '%s'?", near);
    char *all = ac_strdup(cx->region, NAMES[0]);
    for (int32_t i = 1; i < N_FORMATS; i++)
        all = ac_strf(cx->region, "%s, %s", all, NAMES[i]);
    return ac_help(cx, "formats: %s", all);
}

int ac_import_nodes(ac_ctx *cx, ac_imported *m, const ac_pin *pin, int32_t n_pins)
{
    return ac_reading_finish(cx, m, pin, n_pins);
}
