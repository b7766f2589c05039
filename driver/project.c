/* project.c - a model as a folder that a build system takes as it is: code, header, the memory of the plan as arrays in
 * sections that the build chooses, a self-test, and the system's own files (projects.def, runtime/project). */
#include "driver/stage.h"

#include "base/file.h"
#include "codegen/constants.h"
#include "host/runtime_files.h"

#include <ctype.h>
#include <string.h>

typedef enum content { TEMPLATE, CODE, HEADER, MEMORY, MEMORY_HEADER, SELFTEST } content;

static const struct row {
    const char *kind, *path;
    content content;
    const char *source;
} ROWS[] = {
#define FILE_OF(kind, path, content, source) {kind, path, content, source},
#include "driver/projects.def"
#undef FILE_OF
};
enum { N_ROWS = sizeof ROWS / sizeof *ROWS };

bool ac_project_wanted(const arenac *a)
{
    for (int i = 0; i < N_ROWS; i++)
        if (ac_emits(a->opt.emit, ROWS[i].kind))
            return true;
    return false;
}

/* ------------------------------------------------------------------ text */

static const char *upper(ac_ctx *cx, const char *s)
{
    char *up = ac_strdup(cx->region, s);
    for (char *p = up; *p; p++)
        *p = (char)toupper((unsigned char)*p);
    return up;
}

/* "made by arenac 0.2.0 from kws.tflite", fit for comments of every language: no two dashes in a row. */
static const char *title(const ac_module *m)
{
    char *s = ac_strf(m->cx->region, "made by arenac %s from %s", m->version, m->source);
    for (char *p = s; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("._ -", *p))
            *p = '_';
        else if (*p == '-' && p[1] == '-')
            *p = '_';
    return s;
}

/* A template: @name@ and @NAME@ are the C prefix, @TITLE@ says what made it from what, @VERSION@ is arenac's. */
static void put_template(const ac_module *m, ac_sink *to, const ac_rt_file *f)
{
    const struct {
        const char *word, *text;
    } FILL[] = {
        {"@name@", m->name}, {"@NAME@", upper(m->cx, m->name)}, {"@TITLE@", title(m)}, {"@VERSION@", m->version}};
    enum { N = sizeof FILL / sizeof *FILL };
    for (const char *p = (const char *)f->data, *end = p + f->n; p < end;) {
        size_t k = 0;
        while (k < N && strncmp(p, FILL[k].word, strlen(FILL[k].word)))
            k++;
        if (k < N) {
            ac_put(to, FILL[k].text);
            p += strlen(FILL[k].word);
        } else {
            ac_putc(to, *p++);
        }
    }
}

static const ac_rt_file *template_of(const char *name)
{
    const ac_rt_file *f = ac_project_files;
    while (strcmp(f->name, name))
        f++;
    return f;
}

static void put_memory_header(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *P = upper(m->cx, p);
    ac_putf(to,
            "/* %s_memory.h - %s: the memory of the plan, ready for %s_init and %s_run. */\n"
            "#ifndef %s_MEMORY_H\n#define %s_MEMORY_H\n#include \"%s.h\"\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
            "extern const %s_mem %s_memory;\n"
            "/* %s.selftest.c: %s_OK when every byte of the outputs is what it must be. */\n"
            "int %s_selftest(const %s_mem *m);\n\n"
            "#ifdef __cplusplus\n}\n#endif\n#endif\n",
            p, title(m), p, p, P, P, p, p, p, p, P, p, p);
}

/* One array of the plan; `part` is its member, and the word of its macros. */
static void put_array(const ac_module *m, ac_sink *to, const char *part, const char *aligned_as)
{
    const char *P = upper(m->cx, m->name), *R = upper(m->cx, part);
    ac_putf(to,
            "\n#ifdef %s_SECTION_%s\n"
            "__attribute__((section(%s_SECTION_%s)))\n"
            "#endif\n"
            "static uint8_t %s_bytes[%s_%s_BYTES > 0 ? %s_%s_BYTES : 1] __attribute__((aligned(%s_%s_ALIGN)));\n",
            P, R, P, R, part, P, R, P, R, P, upper(m->cx, aligned_as));
}

static void put_memory(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *P = upper(m->cx, p);
    ac_putf(to,
            "/* %s_memory.c - %s: the memory of the plan.\n"
            " *\n"
            " * %s_SECTION_%s, a string, names the section that the array lies in. Compilers give one named .bss.X or\n"
            " * .noinit.X no bytes of the image; the linker script says where it lies. */\n"
            "#include \"%s_memory.h\"\n",
            p, title(m), P, upper(m->cx, m->ram[0].name), p);
    for (int32_t i = 0; i < m->n_ram; i++)
        put_array(m, to, m->ram[i].name, m->ram[i].name);
    if (m->state_bytes)
        put_array(m, to, "state", m->ram[0].name);
    ac_putf(to, "\nconst %s_mem %s_memory = {", p, p);
    for (int32_t i = 0; i < m->n_ram; i++)
        ac_putf(to, "%s.%s = %s_bytes", i ? ", " : "", m->ram[i].name, m->ram[i].name);
    ac_put(to, m->state_bytes ? ", .state = state_bytes};\n" : "};\n");
}

/* ------------------------------------------------------------------ the folder */

static const char *path_of(arenac *a, const struct row *r, const char *folder)
{
    const char *at = strstr(r->path, "NAME");
    return at ? ac_strf(a->cx.region, "%s/%.*s%s%s", folder, (int)(at - r->path), r->path, a->module->name, at + 4)
              : ac_strf(a->cx.region, "%s/%s", folder, r->path);
}

static int put_file(arenac *a, const struct row *r, const char *path)
{
    ac_region *region = a->cx.region;
    AC_TRY(ac_folder_make(&a->cx, ac_strf(region, "%.*s", (int)(ac_path_name(path) - path), path)));
    switch (r->content) {
    case CODE:
        return ac_emit(a, "c", path);
    case HEADER:
        return ac_emit(a, "h", path);
    case SELFTEST:
        return ac_emit(a, "selftest", path);
    case MEMORY:
        put_memory(a->module, ac_output_new(a, path));
        return AC_OK;
    case MEMORY_HEADER:
        put_memory_header(a->module, ac_output_new(a, path));
        return AC_OK;
    case TEMPLATE:
        put_template(a->module, ac_output_new(a, path), template_of(r->source));
        return AC_OK;
    }
    return AC_FAIL;
}

int ac_project_put(arenac *a, const char *kind, const char *folder)
{
    const ac_module *m = a->module;
    const char *why = m->caller_io                                ? "inputs and outputs of the caller (--host)"
                      : m->threads > 1                            ? "threads (--threads)"
                      : m->learning                               ? "a step of training (--train)"
                      : a->lowering->set.gpu                      ? "code for GPUs"
                      : ac_module_weights(m) != AC_WEIGHTS_RODATA ? "weights beside its C (--weights)"
                                                                  : NULL;
    if (why)
        return ac_error(&a->cx, (ac_place){.file = a->source.path}, E0502, "--emit %s cannot have %s", kind, why);
    if (ac_is(folder, "-") || ac_file_is_special(folder))
        return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501, "--emit %s writes a folder: name it with -o",
                        kind);
    for (int i = 0; i < N_ROWS; i++)
        if (!strcmp(ROWS[i].kind, kind))
            AC_TRY(put_file(a, &ROWS[i], path_of(a, &ROWS[i], folder)));
    return AC_OK;
}
