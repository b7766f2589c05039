/* python.c - the verb python: NAME.py and libNAME.so of a model. The module is runtime/arn_module.py with the model's
 * names and types filled in; the library is the generated C with the host API, the runtime and the weights. */
#include "driver/verb/verbs.h"

#include "host/compiler.h"
#include "host/runtime_files.h"

#include <string.h>

static void put_str(ac_sink *to, const char *s)
{
    bool ascii = true;
    for (const char *p = s; *p; p++)
        ascii = ascii && (unsigned char)*p < 0x80;
    ac_put(to, ascii ? "\"" : "b\"");
    for (const char *p = s; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\' || c < ' ' || c >= 0x7f)
            ac_putf(to, "\\x%02x", c);
        else
            ac_putc(to, *p);
    }
    ac_put(to, ascii ? "\"" : "\".decode(\"utf-8\", \"replace\")");
}

/* ("image", "i8", (1, 16, 16, 1), 0.00392156886, -128) */
static void put_io(ac_sink *to, const ac_io *io, int32_t n)
{
    ac_put(to, "[");
    for (int32_t i = 0; i < n; i++) {
        const ac_tensor *t = io[i].tensor;
        ac_put(to, i ? ",\n    (" : "\n    (");
        put_str(to, t->name);
        ac_putf(to, ", \"%s\", (", ac_dtype_name(t->dtype));
        for (int32_t d = 0; d < t->rank; d++)
            ac_putf(to, "%lld,%s", (long long)t->dim[d], d + 1 < t->rank ? " " : "");
        ac_put(to, "), ");
        if (t->quant && t->quant->n == 1)
            ac_putf(to, "%.9g, %d)", (double)t->quant->scale[0], t->quant->zero[0]);
        else
            ac_put(to, "None, None)");
    }
    ac_put(to, n ? "\n]" : "]");
}

static void put_texts(ac_sink *to, const ac_vocabulary *w)
{
    ac_putc(to, '[');
    for (int32_t i = 0; w && i < w->n; i++) {
        ac_put(to, i % 8 ? ", " : i ? ",\n    " : "\n    ");
        put_str(to, w->text[i]);
    }
    ac_put(to, w && w->n ? "\n]" : "]");
}

/* The functions in0_code, out0_text, and the inputs that hold texts. */
static void put_codes(ac_sink *to, const ac_module *m)
{
    ac_put(to, "\nTEXT_INPUTS = (");
    for (int32_t i = 0; i < m->n_inputs; i++)
        if (m->input[i].tensor->words)
            ac_putf(to, "%d, ", i);
    ac_put(to, ")");
    for (int32_t i = 0; i < m->n_inputs; i++)
        if (m->input[i].tensor->words)
            ac_putf(to, "\nin%d_code = text_code", i);
    for (int32_t i = 0; i < m->n_outputs; i++)
        if (m->output[i].tensor->words)
            ac_putf(to, "\nout%d_text = text_at", i);
}

/* The table of inputs and outputs in the docstring. */
static void put_table(ac_sink *to, ac_ctx *cx, const char *kind, const ac_io *io, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        ac_putf(to, "%s %d: ", kind, i);
        for (const char *p = io[i].tensor->name; *p; p++)
            ac_putc(to, *p == '"' || *p == '\\' || (unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f ? '?' : *p);
        ac_putf(to, " %s\n", ac_tensor_str(cx, io[i].tensor));
    }
}

static void fill_in(ac_sink *to, ac_ctx *cx, const ac_module *m, const char *what, size_t n)
{
#define IS(word) (n == sizeof word - 1 && !memcmp(what, word, n))
    if (IS("NAME"))
        ac_put(to, m->name);
    else if (IS("VERSION"))
        ac_put(to, m->version);
    else if (IS("SOURCE"))
        for (const char *p = m->source; *p; p++)
            ac_putc(to, *p == '"' || *p == '\\' || (unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f ? '?' : *p);
    else if (IS("INPUTS"))
        put_io(to, m->input, m->n_inputs);
    else if (IS("OUTPUTS"))
        put_io(to, m->output, m->n_outputs);
    else if (IS("TEXTS"))
        put_texts(to, ac_module_words(m));
    else if (IS("CODES"))
        put_codes(to, m);
    else if (IS("IO")) {
        put_table(to, cx, "input", m->input, m->n_inputs);
        put_table(to, cx, "output", m->output, m->n_outputs);
    }
#undef IS
}

static const ac_rt_file *runtime_file(const char *name)
{
    for (int i = 0; i < ac_rt_count; i++)
        if (!strcmp(ac_rt_files[i].name, name))
            return &ac_rt_files[i];
    return NULL;
}

/* The template with every @WORD@ replaced. */
static void put_module(ac_work *w, ac_sink *to)
{
    const ac_rt_file *f = runtime_file("arn_module.py");
    const char *p = (const char *)f->data, *end = p + f->n;
    while (p < end) {
        const char *at = memchr(p, '@', (size_t)(end - p)), *close = NULL;
        if (at)
            for (close = at + 1; close < end && *close >= 'A' && *close <= 'Z';)
                close++;
        if (!at || close == end || *close != '@' || close == at + 1) { /* a decorator, or nothing more */
            const size_t n = at ? (size_t)(at + 1 - p) : (size_t)(end - p);
            ac_put_n(to, p, n);
            p += n;
            continue;
        }
        ac_put_n(to, p, (size_t)(at - p));
        fill_in(to, &w->cx, w->made.module, at + 1, (size_t)(close - at - 1));
        p = close + 1;
    }
}

/* ------------------------------------------------------------------ the name */

/* A keyword cannot name a module, and of these modules Python finds its own: they are built in, or loaded before, or
 * the module itself needs them. */
static const char KEYWORDS[] =
    " "
    "and as assert async await break class continue def del elif else except finally for from global if import in "
    "is lambda nonlocal not or pass raise return try while with yield ";
static const char MODULES[] =
    " "
    "_abc _ast _bisect _blake2 _bz2 _codecs _collections _collections_abc _compression _csv _ctypes _datetime "
    "_elementtree _frozen_importlib _frozen_importlib_external _functools _heapq _imp _io _locale _lzma _md5 "
    "_opcode _operator _peg_parser _pickle _posixsubprocess _random _sha1 _sha256 _sha3 _sha512 _signal "
    "_sitebuiltins _socket _sre _stat _statistics _string _struct _suggestions _symtable _sysconfig _thread "
    "_tokenize _tracemalloc _typing _warnings _weakref _weakrefset abc array atexit binascii bisect builtins bz2 "
    "cmath codecs collections contextlib copyreg ctypes distutils encodings enum errno faulthandler fcntl fnmatch "
    "functools gc genericpath grp importlib io ipaddress itertools keyword lzma marshal math ntpath numpy "
    "operator os pathlib posix posixpath pwd pyexpat random re reprlib runpy select shutil site spwd stat struct "
    "sys syslog tempfile threading time types typing unicodedata urllib warnings weakref xxsubtype zipfile "
    "zipimport zlib ";

static bool is_among(ac_ctx *cx, const char *words, const char *name)
{
    return strstr(words, ac_strf(cx->region, " %s ", name)) != NULL;
}

static int check_name(ac_work *w, const char *name)
{
    const bool keyword = is_among(&w->cx, KEYWORDS, name);
    if (!keyword && !is_among(&w->cx, MODULES, name))
        return AC_OK;
    ac_error(&w->cx, (ac_place){.file = w->source.path}, E0501, "a Python module '%s' cannot be imported: %s", name,
             keyword ? "the word is a keyword" : "Python has a module of this name");
    return ac_help(&w->cx, "--name NAME gives it another name");
}

/* The generated C with the host API, the runtime and the weights. */
static int put_library(ac_work *w, const char *dir, ac_sink *to)
{
    static const char *const SOURCES[] = {"arn_host.c", "arn_rt.c", "arn_capsule.c"};
    enum { N = sizeof SOURCES / sizeof *SOURCES };
    ac_region *r = w->cx.region;
    const char *more[N + 1];
    ac_file so = {0};
    AC_TRY(ac_build_runtime(&w->cx, dir));
    for (int i = 0; i < N; i++)
        more[i] = ac_strf(r, "%s/%s", dir, SOURCES[i]);
    more[N] = ac_strf(r, "-I%s", dir);
    AC_TRY(ac_build_c(w->made.module, dir, more, N + 1));
    AC_TRY(ac_file_open(&w->cx, ac_strf(r, "%s/m.so", dir), &so));
    ac_put_n(to, so.data, so.n);
    ac_file_close(&so);
    return AC_OK;
}

int ac_python(ac_work *w, const char *const *path, int32_t n)
{
    const char *folder = w->opt.output ? w->opt.output : ".";
    w->request.purpose = AC_FOR_PYTHON;
    AC_TRY(ac_read(w, path, n));
    AC_TRY(ac_compile(w));
    AC_TRY(ac_module_without_custom(w->made.module, "a Python module"));
    AC_TRY(check_name(w, w->made.module->name));
    const char *name = w->made.module->name, *dir = ac_build_folder(&w->cx);
    if (!dir)
        return AC_FAIL;
    const int status = put_library(w, dir, ac_pending_add(&w->out, ac_strf(w->cx.region, "%s/lib%s.so", folder, name)));
    ac_folder_end(dir);
    AC_TRY(status);
    put_module(w, ac_pending_add(&w->out, ac_strf(w->cx.region, "%s/%s.py", folder, name)));
    AC_TRY(ac_folder_make(&w->cx, folder));
    if (!w->opt.quiet)
        ac_putf(ac_pending_add(&w->out, "-"), "%s/%s.py and lib%s.so: import %s; %s.run(...)\n", folder, name, name,
                name, name);
    return AC_OK;
}
