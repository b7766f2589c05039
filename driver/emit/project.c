/* project.c - a model, or several in one arena, as a folder that a build system takes as it is: code, header, the
 * memory of the plan as arrays in sections that the build chooses, a self-test, and the system's own files
 * (projects.def, runtime/project). */
#include "driver/emit/emit.h"

#include "base/ascii.h"
#include "base/file.h"
#include "codegen/c/identifiers.h"
#include "codegen/constants.h"
#include "host/runtime_files.h"

#include <string.h>

typedef enum content { TEMPLATE, RUNTIME, CODE, HEADER, MEMORY, MEMORY_HEADER, SELFTEST } content;

static const struct row {
    const char *kind, *path;
    content content;
    const char *source;
} ROWS[] = {
#define FILE_OF(kind, path, content, source) {kind, path, content, source},
#include "driver/emit/projects.def"
#undef FILE_OF
};
enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

typedef struct project {
    const ac_made *a;
    ac_project is;
    ac_project_content *file;
} project;

/* ------------------------------------------------------------------ text */

/* "made by arenac 0.2.0 from kws.tflite", fit for comments of every language: no two dashes in a row. */
static const char *title(const project *p)
{
    char *s = ac_strf(p->a->cx->region, "made by arenac %s from %s", arenac_version(), p->is.made_of);
    for (char *c = s; *c; c++)
        if (!ac_is_alnum(*c) && !strchr("._ -", *c))
            *c = '_';
        else if (*c == '-' && c[1] == '-')
            *c = '_';
    return s;
}

static bool is_gpu(const ac_module *m)
{
    return m->target->isa == AC_ISA_CUDA;
}

static bool has_code(const ac_project_part *part)
{
    return part->work || part->code;
}

typedef struct fill {
    const char *word, *text;
} fill;

static void put_line(ac_sink *to, const char *line, size_t length, const fill *with, size_t n)
{
    for (const char *p = line, *end = p + length; p < end;) {
        size_t k = 0;
        while (k < n && strncmp(p, with[k].word, strlen(with[k].word)))
            k++;
        if (k < n) {
            ac_put(to, with[k].text);
            p += strlen(with[k].word);
        } else {
            ac_putc(to, *p++);
        }
    }
}

/* A template: @name@ and @NAME@ are the C prefix, @TITLE@ names the version and the model, @VERSION@ is arenac's,
 * @ARCH@ the architecture of a GPU, "90". A line with @source@ is repeated for each file of code, by its stem, and a
 * line with @header@ for each header. */
static void put_template(const project *p, ac_sink *to, const ac_rt_file *f)
{
    fill with[] = {{"@name@", p->is.name},
                   {"@NAME@", ac_c_upper(p->a->cx->region, p->is.name)},
                   {"@TITLE@", title(p)},
                   {"@VERSION@", arenac_version()},
                   {"@ARCH@", is_gpu(p->is.module) ? p->is.module->target->cpu + strlen("sm_") : ""},
                   {"@source@", ""},
                   {"@header@", ""}};
    enum { N = sizeof with / sizeof *with, SOURCE = N - 2, HEADERS = N - 1 };
    const char *at = (const char *)f->data, *end = at + f->n;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        const size_t length = stop ? (size_t)(stop + 1 - at) : (size_t)(end - at);
        const char *line = ac_strf(p->a->cx->region, "%.*s", (int)length, at);
        const bool source = strstr(line, with[SOURCE].word), header = strstr(line, with[HEADERS].word);
        for (int32_t k = 0; k < (source || header ? p->is.n : 1); k++) {
            const ac_project_part *part = &p->is.part[k];
            with[SOURCE].text = source ? part->stem : "";
            with[HEADERS].text = header ? part->stem : "";
            if (!source || has_code(part))
                put_line(to, line, length, with, N);
        }
        at += length;
    }
}

static const ac_rt_file *file_of(const ac_rt_file *f, const char *name)
{
    while (strcmp(f->name, name))
        f++;
    return f;
}

static void put_memory_header(const project *x, ac_sink *to)
{
    const char *p = x->is.name, *P = ac_c_upper(x->a->cx->region, p);
    ac_putf(to,
            "/* %s_memory.h - %s: the memory of the plan, ready for %s_init and %s_run. */\n"
            "#ifndef %s_MEMORY_H\n#define %s_MEMORY_H\n#include \"%s.h\"\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
            "extern const %s_mem %s_memory;\n"
            "/* %s.selftest.c: 0 when every byte of the outputs is what it must be. */\n"
            "int %s_selftest(const %s_mem *m);\n\n"
            "#ifdef __cplusplus\n}\n#endif\n#endif\n",
            p, title(x), p, p, P, P, p, p, p, p, p, p);
}

/* One array of the plan; `part` is its member, and the word of its macros. */
static void put_array(const project *x, ac_sink *to, const char *part, const char *aligned_as)
{
    ac_ctx *cx = x->a->cx;
    const char *P = ac_c_upper(cx->region, x->is.name), *R = ac_c_upper(cx->region, part);
    ac_putf(to,
            "\n#ifdef %s_SECTION_%s\n"
            "__attribute__((section(%s_SECTION_%s)))\n"
            "#endif\n"
            "static uint8_t %s_bytes[%s_%s_BYTES > 0 ? %s_%s_BYTES : 1] __attribute__((aligned(%s_%s_ALIGN)));\n",
            P, R, P, R, part, P, R, P, R, P, ac_c_upper(cx->region, aligned_as));
}

static void put_memory(const project *x, ac_sink *to)
{
    const ac_module *m = x->is.module;
    const char *p = x->is.name, *P = ac_c_upper(x->a->cx->region, p);
    const char *first = m->ram[0].name;
    ac_putf(to,
            "/* %s_memory.c - %s: the memory of the plan.\n"
            " *\n"
            " * %s_SECTION_%s, a string, names the section that the array lies in. Compilers give one named .bss.X or\n"
            " * .noinit.X no bytes of the image; the linker script says where it lies. */\n"
            "#include \"%s_memory.h\"\n",
            p, title(x), P, ac_c_upper(x->a->cx->region, first), p);
    for (int32_t i = 0; i < m->n_ram; i++)
        put_array(x, to, m->ram[i].name, m->ram[i].name);
    if (x->is.state)
        put_array(x, to, "state", first);
    ac_putf(to, "\nconst %s_mem %s_memory = {", p, p);
    for (int32_t i = 0; i < m->n_ram; i++)
        ac_putf(to, "%s.%s = %s_bytes", i ? ", " : "", m->ram[i].name, m->ram[i].name);
    ac_put(to, x->is.state ? ", .state = state_bytes};\n" : "};\n");
}

/* ------------------------------------------------------------------ the folder */

static const char *path_of(const project *p, const struct row *r, const char *folder, const char *stem)
{
    const char *at = strstr(r->path, "NAME");
    return at ? ac_strf(p->a->cx->region, "%s/%.*s%s%s", folder, (int)(at - r->path), r->path, stem, at + 4)
              : ac_strf(p->a->cx->region, "%s/%s", folder, r->path);
}

static ac_sink *add_text(project *p, const char *path)
{
    ac_sink *text = AC_NEW(p->a->cx->region, ac_sink);
    ac_sink_open(text, p->a->cx);
    ac_push(p->a->cx->region, p->file, ((ac_project_file){.path = path, .text = text}));
    return text;
}

/* A file of code, header or self-test for each part. */
static void add_code(project *p, const struct row *r, const char *folder, const char *kind)
{
    for (int32_t k = 0; k < p->is.n; k++) {
        const ac_project_part *part = &p->is.part[k];
        const ac_sink *text = r->content == CODE ? part->code : r->content == HEADER ? part->header : part->selftest;
        if (r->content != CODE || has_code(part))
            ac_push(p->a->cx->region, p->file,
                    ((ac_project_file){path_of(p, r, folder, part->stem), text, part->work, kind}));
    }
}

static void add_file(project *p, const struct row *r, const char *folder)
{
    const char *path = path_of(p, r, folder, p->is.name);
    switch (r->content) {
    case CODE:
        add_code(p, r, folder, is_gpu(p->is.module) ? "cu" : "c");
        break;
    case RUNTIME: {
        const ac_rt_file *f = file_of(ac_rt_files, r->source);
        ac_put_n(add_text(p, path), (const char *)f->data, f->n);
        break;
    }
    case HEADER:
        add_code(p, r, folder, "h");
        break;
    case SELFTEST:
        add_code(p, r, folder, "selftest");
        break;
    case MEMORY:
        put_memory(p, add_text(p, path));
        break;
    case MEMORY_HEADER:
        put_memory_header(p, add_text(p, path));
        break;
    case TEMPLATE:
        put_template(p, add_text(p, path), file_of(ac_project_files, r->source));
        break;
    }
}

static bool has_rows(const char *kind)
{
    for (int i = 0; i < N_ROWS; i++)
        if (!strcmp(ROWS[i].kind, kind))
            return true;
    return false;
}

int ac_project_list(const ac_made *a, const ac_project *of, const char *kind, const char *folder,
                    ac_project_content *files)
{
    project p = {a, *of, files};
    const ac_module *m = of->module;
    const char *gpu_kind = ac_strf(a->cx->region, "%s-gpu", kind), *rows = is_gpu(m) ? gpu_kind : kind;
    const char *why = m->caller_io                                ? "inputs and outputs of the caller (--host)"
                      : m->threads > 1                            ? "threads (--threads)"
                      : m->learning                               ? "a step of training (--train)"
                      : is_gpu(m) && !has_rows(gpu_kind)          ? "code for GPUs"
                      : ac_module_weights(m) != AC_WEIGHTS_RODATA ? "weights beside its C (--weights)"
                                                                  : NULL;
    if (why)
        return ac_error(a->cx, (ac_place){.file = a->source->path}, E0502, "--emit %s cannot have %s", kind, why);
    if (ac_is(folder, "-") || ac_file_is_special(folder))
        return ac_error(a->cx, (ac_place){.file = "arenac"}, E0501, "--emit %s writes a folder: name it with -o", kind);
    for (int i = 0; i < N_ROWS; i++)
        if (!strcmp(ROWS[i].kind, rows))
            add_file(&p, &ROWS[i], folder);
    return AC_OK;
}

bool ac_project_is(const char *kind)
{
    return has_rows(kind);
}
