/* test_locale.c - a program that has called setlocale gets the same files and texts as one that has not: every model
 * format is read, every kind of output is written, and five verbs print, under "C" and under a locale with decimal
 * commas; both folders are compared byte by byte. The locale is made by localedef in the test's folder. */
#include "arenac.h"
#include "tests/unit/support/cc.h"
#include "tests/unit/support/expect.h"

#include <locale.h>
#include <sys/stat.h>

#define MODELS SOURCE_DIR "/models/"
#define COMMA  "de_DE.UTF-8"

typedef int verb(arenac *a, const char *const *path, int32_t n);

/* A model, and the file with its weights; a size that it leaves open. */
typedef struct sample {
    const char *path[2], *dim[2];
} sample;

static void end(arenac *a, int status)
{
    if (status == 0)
        status = arenac_commit(a);
    arenac_print_diagnostics(a, stdout, false);
    printf("status %d, exit %d\n", status, arenac_exit(a));
    fflush(stdout);
    arenac_close(a);
}

static arenac *opened(const sample *m)
{
    arenac *a = arenac_open();
    MUST(a);
    for (int i = 0; i < 2; i++)
        MUST(!m->dim[i] || arenac_set(a, "dim", m->dim[i]) == 0);
    return a;
}

static void write_kind(const sample *m, const char *kind, const char *extension)
{
    char path[100];
    arenac *a = opened(m);
    MUST(arenac_set(a, "target", "generic") == 0);
    int status = arenac_read(a, m->path, m->path[1] ? 2 : 1);
    snprintf(path, sizeof path, "%.20s%.20s", kind, extension);
    if (status == 0)
        status = arenac_compile(a);
    if (status == 0)
        status = arenac_emit(a, kind, path);
    if (status == 0)
        status = arenac_write(a);
    end(a, status);
}

static void print_verb(verb *run, const char *option, const char *value, const sample *m)
{
    arenac *a = opened(m);
    MUST(!option || arenac_set(a, option, value) == 0);
    end(a, run(a, m->path, m->path[1] ? 2 : 1));
}

static void all_kinds(const sample *model)
{
    for (int32_t i = 0; arenac_kind_at(i); i++)
        write_kind(model, arenac_kind_at(i)->name, arenac_kind_at(i)->extension);
}

static void all_verbs(const sample *model)
{
    print_verb(arenac_verb_prove, "target", "generic", model);
    print_verb(arenac_verb_run, "random", "7", model);
    print_verb(arenac_verb_show, "emit", "ag", model);
    print_verb(arenac_verb_show, "verbose", NULL, model);
    print_verb(arenac_verb_convert, "output", "converted.onnx", model);
    print_verb(arenac_verb_check, NULL, NULL, model);
}

static void in_locale(const char *dir, const char *name)
{
    static const sample MODEL[] = {
        {{MODELS "gate.ag"}, {0}},
        {{MODELS "squares.prototxt", MODELS "squares.caffemodel"}, {0}},
        {{MODELS "dense-symbol.json", MODELS "dense-0000.params"}, {"data.0=1", "data.1=12"}},
        {{MODELS "tf_rnn.pbtxt"}, {0}},
        {{MODELS "digits_f32.tflite"}, {0}},
    };
    char text[300];
    snprintf(text, sizeof text, "%s/%s", dir, name);
    MUST(mkdir(text, 0700) == 0 && chdir(text) == 0);
    MUST(freopen("said.txt", "w", stdout));
    MUST(setlocale(LC_ALL, name));
    snprintf(text, sizeof text, "%.1f", 0.5);
    MUST(!strcmp(text, strcmp(name, COMMA) ? "0.5" : "0,5"));
    for (size_t i = 0; i < sizeof MODEL / sizeof *MODEL; i++) {
        snprintf(text, sizeof text, "%d", (int)i);
        MUST(mkdir(text, 0700) == 0 && chdir(text) == 0);
        all_kinds(&MODEL[i]);
        all_verbs(&MODEL[i]);
        MUST(access("c.c", R_OK) == 0 && access("svg.svg", R_OK) == 0 && access("converted.onnx", R_OK) == 0);
        MUST(chdir("..") == 0);
    }
}

/* In a process of its own, since a locale lasts. */
static bool child(const char *dir, const char *name)
{
    int status = 1;
    const pid_t pid = fork();
    if (pid == 0) {
        in_locale(dir, name);
        exit(check_done());
    }
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(void)
{
    char dir[256], locales[300], made[350];
    MUST(cc_folder(dir) == 0);
    snprintf(locales, sizeof locales, "%s/locales", dir);
    snprintf(made, sizeof made, "%s/" COMMA, locales);
    MUST(mkdir(locales, 0700) == 0 && setenv("LOCPATH", locales, 1) == 0);
    const char *const make[] = {"localedef", "-i", "de_DE", "-f", "UTF-8", made, NULL};
    const char *const diff[] = {"diff", "-r", "C", COMMA, NULL};
    const bool has = cc_run(dir, make, "make.log") == 0;
    if (!has)
        printf("skipped: a locale with decimal commas is missing: install locales\n");
    if (has) {
        MUST(child(dir, "C") && child(dir, COMMA));
        MUST(chdir(dir) == 0);
        const int differs = cc_run(dir, diff, "diff.log");
        char *said = cc_read(dir, "diff.log");
        CHECK(!differs && !*said);
        if (*said)
            fprintf(stderr, "%.3000s", said);
        free(said);
    }
    cc_remove(dir);
    return has ? check_done() : 77;
}
