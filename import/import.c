/* import.c - detects the format of a file and reads it; for other files, reports their kind. */
#include "import/import.h"
#include "base/format.h"
#include "import/build/reading.h"
#include "import/wire/peek.h"

#include <string.h>

#define FORMAT(id, name) extern const ac_format ac_##id##_format;
#include "import/formats.def"
#undef FORMAT

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
    {MARK("\037\213"), "a gzip file", "unpack it: zcat FILE | arenac plan -"},
    {MARK("\3757zXZ"), "an xz file", "unpack it: xzcat FILE | arenac plan -"},
    {MARK("BZh"), "a bzip2 file", "unpack it: bzcat FILE | arenac plan -"},
    {MARK("\050\265\057\375"), "a zstd file", "unpack it: zstdcat FILE | arenac plan -"},
    {"ustar", 5, 257, "a tar archive", "unpack it"},
    {MARK("\211HDF\r\n\032\n"), "an HDF5 file (Keras .h5)",
     "export it as a SavedModel, which arenac reads: tf.keras.models.load_model(FILE).export(FOLDER)"},
    {MARK("\200\002"), "a Python pickle (older PyTorch)", "export the model to ONNX (torch.onnx.export) or TFLite"},
    {MARK("\200\003"), "a Python pickle", "export the model to ONNX or TFLite"},
    {MARK("\200\004"), "a Python pickle", "export the model to ONNX or TFLite"},
    {MARK("\200\005"), "a Python pickle", "export the model to ONNX or TFLite"},
    {MARK("\211PNG"), "a PNG picture", NULL},
    {MARK("\377\330\377"), "a JPEG picture", NULL},
    {MARK("GIF8"), "a GIF picture", NULL},
    {MARK("%PDF"), "a PDF document", NULL},
    {MARK("\177ELF"), "a program or library (ELF)", NULL},
    {MARK("MZ"), "a program (Windows)", NULL},
    {MARK("#!"), "a script", NULL},
    {MARK("\223NUMPY"), "a NumPy array", "name the model first; arrays go with --input KEY=FILE.npy"},
    {MARK("GGUF"), "a GGUF file (llama.cpp): weights without a graph",
     "export the model that they belong to: ONNX, docs/language-models.md"},
    {MARK("\022\001\0\0\0\0\0\0"), "an MXNet .params file", "name the -symbol.json file first"},
    {"TFL2", 4, 4, "a TFLite file of an old schema (TFL2)", "convert the model again"},
    {"ORTM", 4, 4, "a model in ONNX Runtime's own format (.ort)",
     "use the .onnx file that it was made of: onnxruntime.tools.convert_onnx_models_to_ort reads that one"},
    {MARK("arenac-lock "), "the lock of a plan",
     "`arenac diff LOCK MODEL` and `arenac plan MODEL --lock LOCK` read it"},
    {MARK("{\n  \"schema\": \"arenac-"), "a JSON document of arenac", "name the model that it was made of"},
    {"ET12", 4, 4, "an ExecuTorch program", "export the model to ONNX (torch.onnx.export) or TFLite"},
#undef MARK
};

static const char CSV_HELP[] = "`arenac plan FILE` packs it without a model";

static int not_a_model(ac_ctx *cx, ac_place at, const char *what, const char *help)
{
    ac_error(cx, at, E0001, "not a model: this looks like %s", what);
    return help ? ac_help(cx, "%s", help) : AC_FAIL;
}

/* Zip archives, by a name that is in them; the first that is found. */
static const struct {
    const char *member, *what, *help;
} ZIPS[] = {
    {"model.weights.h5", "a Keras archive (.keras)",
     "export it as a SavedModel, which arenac reads: tf.keras.models.load_model(FILE).export(FOLDER)"},
    {"/code/__torch__", "a TorchScript archive (PyTorch)",
     "export the model that it was made of to ONNX: torch.onnx.export"},
    {"/data.pkl", "weights or objects of PyTorch (torch.save): there is no graph in it",
     "load it in PyTorch and export the model to ONNX: torch.onnx.export(model.eval(), inputs, 'model.onnx')"},
    {".npy", "arrays of NumPy (.npz)", "name the model first; arrays go with --input KEY=FILE.npy"},
    {".tflite", "a zip archive with a TFLite model (.task files are such)", "unpack it"},
};

static int zip_archive(ac_ctx *cx, ac_place at, ac_span s)
{
    for (size_t i = 0; i < sizeof ZIPS / sizeof *ZIPS; i++)
        if (ac_peek_member(s, ZIPS[i].member))
            return not_a_model(cx, at, ZIPS[i].what, ZIPS[i].help);
    return not_a_model(cx, at, "a zip archive", "unpack it if it holds a model");
}

/* The size of a header, and the header: JSON. */
static bool is_safetensors(ac_span s)
{
    uint64_t n;
    return ac_span_u64(s, 0, &n) && n >= 2 && n <= s.n - 8 && !memcmp(s.p + 8, "{\"", 2);
}

/* No format matches: reports the kind of the file, or its first bytes. */
static int unknown(ac_ctx *cx, const ac_file *f, ac_span s)
{
    ac_place at = {.file = f->path};
    if (!s.n)
        return ac_error(cx, at, E0001, "the file is empty");
    for (size_t i = 0; i < sizeof LOOKALIKES / sizeof *LOOKALIKES; i++)
        if (ac_span_starts(s, LOOKALIKES[i].at, LOOKALIKES[i].mark, LOOKALIKES[i].n))
            return not_a_model(cx, at, LOOKALIKES[i].what, LOOKALIKES[i].help);
    if (ac_span_starts(s, 0, "PK\003\004", 4))
        return zip_archive(cx, at, s);
    if (is_safetensors(s))
        return not_a_model(cx, at, "a safetensors file: weights without a graph",
                           "load them into the model and export that: torch.onnx.export, or optimum-cli export onnx");
    if (ac_peek_text(s) && ac_peek_contains(s, ",") && ac_peek_contains(s, "size") &&
        (ac_peek_contains(s, "lower") || ac_peek_contains(s, "start") || ac_peek_contains(s, "begin")))
        return not_a_model(cx, at, "a table of lifetimes (CSV)", CSV_HELP);
    if (ac_peek_text(s) && ac_peek_contains(s, "\"class_name\""))
        return not_a_model(cx, at, "a Keras model in JSON, which has no weights",
                           "convert the trained model to TFLite");
    char *seen = ac_alloc(cx->region, 64), *to = seen;
    for (size_t i = 0; i < s.n && i < 16; i++) {
        if (ac_peek_text(s))
            *to++ = (char)(s.p[i] < 0x20 ? ' ' : s.p[i] < 0x7f ? s.p[i] : '?');
        else
            to += ac_print(to, 4, "%s%02x", i ? " " : "", s.p[i]);
    }
    ac_error(cx, at, E0001, "unknown format; the file starts with %s",
             ac_peek_text(s) ? ac_strf(cx->region, "'%s'", seen) : seen);
    return ac_help(cx, "arenac recognises a model by its content; --from FORMAT overrides that");
}

/* The formats. */

static int read_text(ac_reading *r)
{
    ac_text_head head;
    AC_TRY(ac_graph_read_text(r->cx, r->file.path, (const char *)r->file.data, r->file.n, &head, &r->g));
    r->g->promise = r->opt.promise;
    r->out.format = "text";
    r->out.file_ops = r->g->node.n;
    r->out.channels_first = head.channels_first;
    r->out.weights = head.weights;
    r->out.declared = true;
    return AC_OK;
}

static bool looks_text(ac_span s)
{
    ac_span w = ac_peek_word(s);
    const size_t n = ac_peek_starts(w, "graph") ? 5 : ac_peek_starts(w, "weights") ? 7 : 0;
    return ac_peek_text(s) && n && (w.n == n || strchr(" \t\r\n#\"", w.p[n]));
}

const ac_format ac_text_format = {.title = "arenac's text form", .looks = looks_text, .read = read_text};

static const ac_format *const FORMATS[] = {
#define FORMAT(id, name) &ac_##id##_format,
#include "import/formats.def"
#undef FORMAT
};

static const char *const NAMES[] = {
#define FORMAT(id, name) name,
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
    const ac_operators *t = FORMATS[of]->operators;
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

bool ac_import_recognises(const ac_file *f)
{
    const ac_span s = {f->data, f->n};
    for (int32_t i = 0; i < N_FORMATS; i++)
        if (FORMATS[i]->looks(s))
            return true;
    return false;
}

bool ac_import_in_order(const ac_file *first, const ac_file *second)
{
    const ac_span a = {first->data, first->n}, b = {second->data, second->n};
    return ac_peek_text(a) || !ac_peek_text(b);
}

static int read_as(ac_ctx *cx, const ac_format *x, const ac_file *f, const ac_import_options *opt, ac_imported *out)
{
    if (opt->second && !x->weights) {
        ac_error(cx, (ac_place){.file = opt->second->path}, E0501,
                 "a second file is given, but %s keeps everything in one", x->title);
        return ac_help(cx, "several models in one arena: --share exclusive|concurrent");
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
        if (from ? !strcmp(from, NAMES[i]) : FORMATS[i]->looks(s))
            return s.n ? read_as(cx, FORMATS[i], f, opt, out) : unknown(cx, f, s);
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
