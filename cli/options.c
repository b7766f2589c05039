/* options.c - the command line as data: tables of options and verbs, one parser for all. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef enum opt_id {
#define OPT(id, name, letter, arg, verbs, help) OPT_##id,
#include "cli/options.def"
#undef OPT
    OPT_COUNT
} opt_id;

static const struct option_row {
    const char *name;
    char letter;
    const char *arg, *verbs, *help;
} OPTIONS[] = {
#define OPT(id, name, letter, arg, verbs, help) {name, letter, arg, verbs, help},
#include "cli/options.def"
#undef OPT
};

static const struct verb_row {
    const char *name;
    char letter;
    const char *args, *line, *text;
} VERBS[] = {
#define VERB(id, name, letter, args, line, text) {name, letter, args, line, text},
#include "cli/verbs.def"
#undef VERB
};

const char *ac_verb_name(ac_verb verb)
{
    return VERBS[verb].name;
}

bool ac_verb_find(const char *name, ac_verb *verb)
{
    for (int i = 0; i < AC_VERB_COUNT; i++)
        if (!strcmp(VERBS[i].name, name)) {
            *verb = (ac_verb)i;
            return true;
        }
    return false;
}

static bool takes(ac_verb verb, opt_id id)
{
    const char *v = OPTIONS[id].verbs;
    return v[0] == '*' || (VERBS[verb].letter && strchr(v, VERBS[verb].letter)) ||
           (id == OPT_MAN && verb == AC_VERB_HELP);
}

/* ------------------------------------------------------------------ help */

void ac_help_overview(FILE *to)
{
    fprintf(to,
            "arenac %s: neural networks to C with every tensor offset baked in\n\n"
            "  arenac MODEL                    the memory plan (same as arenac plan MODEL)\n",
            arenac_version());
    for (int i = 0; i < AC_VERB_COUNT; i++)
        fprintf(to, "  arenac %-10s %-22s %s\n", VERBS[i].name, VERBS[i].args, VERBS[i].line);
    fprintf(to, "\nModels: TFLite, ONNX, TensorFlow (.pb, .pbtxt, SavedModel), Caffe, MXNet, arenac text "
                "(.ag).\narenac help VERB lists the options.\n");
}

static void print_option(FILE *to, int i)
{
    char left[64];
    int n = OPTIONS[i].letter ? snprintf(left, sizeof left, "-%c, --%s", OPTIONS[i].letter, OPTIONS[i].name)
                              : snprintf(left, sizeof left, "    --%s", OPTIONS[i].name);
    if (OPTIONS[i].arg && n > 0 && (size_t)n < sizeof left)
        snprintf(left + n, sizeof left - (size_t)n, "%s%s", OPTIONS[i].arg[0] == '[' ? "" : " ", OPTIONS[i].arg);
    fprintf(to, "  %-26s %s\n", left, OPTIONS[i].help);
}

void ac_help_print(FILE *to, ac_verb verb, bool all)
{
    enum { FIRST_COMMON = OPT_MAX_MEMORY, LINES = 24 };
    fprintf(to, "arenac %s %s [options]\n%s\n\n%s\n\n", VERBS[verb].name, VERBS[verb].args, VERBS[verb].line,
            VERBS[verb].text);
    int shown = 0;
    bool more = false;
    for (int i = 0; i < OPT_COUNT; i++) {
        if (!takes(verb, (opt_id)i))
            continue;
        if (!all && (i >= FIRST_COMMON || shown >= LINES - 8)) {
            more = true;
            continue;
        }
        print_option(to, i);
        shown++;
    }
    if (more)
        fprintf(to, "  --help-all lists the rest.\n");
}

static void man_text(FILE *to, const char *s)
{
    for (; *s; s++)
        if (*s == '-')
            fputs("\\-", to);
        else if (*s == '\\')
            fputs("\\e", to);
        else
            fputc(*s, to);
}

void ac_help_man(FILE *to, bool overview, ac_verb verb)
{
    const char *dash = overview ? "" : "-", *name = overview ? "" : VERBS[verb].name;
    fprintf(to, ".TH ARENAC%s%s 1 \"\" \"arenac %s\" \"User Commands\"\n.SH NAME\narenac%s%s \\- ", dash, name,
            arenac_version(), overview ? "" : "\\-", name);
    man_text(to, overview ? "neural networks to C with every tensor offset baked in" : VERBS[verb].line);
    fprintf(to, "\n.SH SYNOPSIS\n.B arenac %s\n", overview ? "VERB" : name);
    man_text(to, overview ? "[options] MODEL" : VERBS[verb].args);
    fprintf(to, "\n.SH DESCRIPTION\n");
    if (overview)
        for (int i = 0; i < AC_VERB_COUNT; i++) {
            fprintf(to, ".TP\n.B arenac %s ", VERBS[i].name);
            man_text(to, VERBS[i].args);
            fputc('\n', to);
            man_text(to, VERBS[i].text);
            fputc('\n', to);
        }
    else
        man_text(to, VERBS[verb].text);
    fprintf(to, "\n.SH OPTIONS\n");
    for (int i = 0; i < OPT_COUNT; i++) {
        if (overview ? OPTIONS[i].verbs[0] != '*' : !takes(verb, (opt_id)i))
            continue;
        fprintf(to, ".TP\n.B ");
        if (OPTIONS[i].letter)
            fprintf(to, "\\-%c, ", OPTIONS[i].letter);
        fprintf(to, "\\-\\-");
        man_text(to, OPTIONS[i].name);
        if (OPTIONS[i].arg)
            fprintf(to, "%s%s", OPTIONS[i].arg[0] == '[' ? "" : " ", OPTIONS[i].arg);
        fputc('\n', to);
        man_text(to, OPTIONS[i].help);
        fputc('\n', to);
    }
    fprintf(to, ".SH EXIT STATUS\n0 done; 1 invalid model; 2 wrong command line; 3 a file or the host compiler failed; "
                "4 over a memory "
                "budget; 5 outputs differ; 6 plan changed; 7 unsafe plan; 8 unsupported; 70 internal error.\n");
}

/* ------------------------------------------------------------------ parsing */

static int wrong(const char *fmt, const char *a, const char *b)
{
    fputs("arenac: error[E0501]: ", stderr);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* both formats are literals of this file */
    fprintf(stderr, fmt, a, b);
#pragma GCC diagnostic pop
    fputc('\n', stderr);
    return AC_EXIT_USAGE;
}

bool ac_parse_size(const char *text, int64_t *out)
{
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long long v = strtoull(text, &end, 0);
    int shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift)
        end++;
    if (*end == 'i')
        end++;
    if (*end == 'B')
        end++;
    if (*end || v > (unsigned long long)INT64_MAX >> shift)
        return false;
    *out = (int64_t)(v << shift);
    return true;
}

static bool parse_int(const char *text, int64_t lo, int64_t hi, int64_t *out)
{
    char *end;
    if (!*text)
        return false;
    long long v = strtoll(text, &end, 0);
    if (*end || v < lo || v > hi)
        return false;
    *out = v;
    return true;
}

static bool on_off(const char *text, bool *out)
{
    *out = !strcmp(text, "on");
    return *out || !strcmp(text, "off");
}

/* The first n characters of s, as a string that lives as long as the process and that a leak check finds. */
static const char *keep(const char *s, size_t n)
{
    static struct kept {
        struct kept *next;
        char text[];
    } * all;
    struct kept *k = malloc(sizeof *k + n + 1);
    if (!k)
        return "";
    memcpy(k->text, s, n);
    k->text[n] = 0;
    k->next = all;
    all = k;
    return k->text;
}

static bool key_file(const char *arg, ac_keyfile *list, int32_t *n)
{
    const char *eq = strchr(arg, '=');
    if (!eq || eq == arg || !eq[1] || *n == AC_CLI_MAX)
        return false;
    const char *key = keep(arg, (size_t)(eq - arg));
    list[(*n)++] = (ac_keyfile){key, eq + 1};
    return key != NULL;
}

static bool one_of(const char *arg, const char *list) /* list: "a|b|c" */
{
    size_t n = strlen(arg);
    for (const char *p = list; *p; p += strcspn(p, "|"), p += *p == '|')
        if (strcspn(p, "|") == n && !strncmp(p, arg, n))
            return true;
    return false;
}

static bool section(const char *arg, ac_options *opt)
{
    const char *name = strchr(arg, '=');
    if (!name || !name[1])
        return false;
    bool code = !strncmp(arg, "code=", 5);
    *(code ? &opt->section_code : &opt->section_rodata) = name + 1;
    return code || !strncmp(arg, "rodata=", 7);
}

/* The text up to one of `ends`; *at moves behind it. */
static const char *word(const char **at, const char *ends)
{
    const size_t n = strcspn(*at, ends);
    *at += n;
    return keep(*at - n, n);
}

/* NAME:SIZE[@ADDR][,fast|slow][,ro][,align=N] */
static bool memory(const char *arg, arenac_memory *m)
{
    *m = (arenac_memory){.address = -1};
    m->name = word(&arg, ":=");
    if (!*m->name || !*arg++ || !ac_parse_size(word(&arg, "@,"), &m->bytes) || m->bytes < 1)
        return false;
    if (*arg == '@') {
        arg++;
        if (!parse_int(word(&arg, ","), 0, INT64_MAX, &m->address))
            return false;
    }
    while (*arg == ',') {
        arg++;
        const char *what = word(&arg, ",");
        if (!strcmp(what, "fast") || !strcmp(what, "slow"))
            m->speed = *what == 'f' ? 1 : -1;
        else if (!strcmp(what, "ro"))
            m->read_only = true;
        else if (strncmp(what, "align=", 6) || !parse_int(what + 6, 1, 1 << 20, &m->align) ||
                 (m->align & (m->align - 1)))
            return false;
    }
    return true;
}

/* TENSOR=MEM[@OFFSET]; names of tensors may hold anything, also '=' */
static bool pin(const char *arg, arenac_pin *p)
{
    const char *eq = strrchr(arg, '=');
    *p = (arenac_pin){.offset = -1};
    if (!eq || eq == arg)
        return false;
    p->tensor = keep(arg, (size_t)(eq++ - arg));
    p->memory = word(&eq, "@");
    return *p->memory && (!*eq || parse_int(eq + 1, 0, INT64_MAX / 4, &p->offset));
}

static bool push_name(const char **list, arenac_names *names, const char *arg)
{
    if (names->n == AC_CLI_MAX)
        return false;
    list[names->n++] = arg;
    names->item = list;
    return true;
}

/* The graph stays as the file has it, so that every result of the file can be looked at. */
static bool keep_file_operators(ac_cli *c)
{
    static const char *const MENDING[] = {"layout", "simplify", "norm", "pad", "epilogue", "view"};
    bool ok = true;
    for (size_t i = 0; i < sizeof MENDING / sizeof *MENDING; i++)
        ok &= push_name(c->skip, &c->opt.skip, MENDING[i]);
    return ok;
}

/* One option with its argument into the struct. False: the argument is malformed. */
static bool apply(ac_cli *c, opt_id id, const char *arg)
{
    int64_t v = 0;
    switch (id) {
    case OPT_OUTPUT:
        c->output = arg;
        return *arg != 0;
    case OPT_NAME:
        c->opt.name = arg;
        return *arg != 0;
    case OPT_EMIT:
        c->emit = arg;
        return *arg != 0;
    case OPT_TARGET:
        c->opt.target = arg;
        c->target_given = true;
        return true;
    case OPT_FROM:
        c->opt.from = arg;
        return true;
    case OPT_OUTPUTS:
        c->opt.outputs = arg;
        return true;
    case OPT_BUDGET: {
        const char *eq = strchr(arg, '=');
        c->opt.budget_memory = eq ? keep(arg, (size_t)(eq - arg)) : NULL;
        return eq != arg && ac_parse_size(eq ? eq + 1 : arg, &c->opt.budget);
    }
    case OPT_MEM:
        c->opt.mem = c->mem;
        return c->opt.n_mems < AC_CLI_MAX && memory(arg, &c->mem[c->opt.n_mems++]);
    case OPT_PIN:
        c->opt.pin = c->pin;
        return c->opt.n_pins < AC_CLI_MAX && pin(arg, &c->pin[c->opt.n_pins++]);
    case OPT_EFFORT:
        return parse_int(arg, 0, 9, &c->opt.effort);
    case OPT_DIM: {
        const char *eq = strchr(arg, '='), *dots = eq ? strstr(eq, "..") : NULL;
        if (dots && eq != arg && !c->range && (c->verb == AC_VERB_PLAN || c->verb == AC_VERB_COMPILE)) {
            c->range = keep(arg, (size_t)(eq - arg));
            return parse_int(keep(eq + 1, (size_t)(dots - eq - 1)), 1, INT32_MAX, &c->range_lo) &&
                   parse_int(dots + 2, c->range_lo, INT32_MAX, &c->range_hi);
        }
        if (!eq || eq == arg || c->opt.n_dims == AC_CLI_MAX ||
            (strcmp(eq + 1, "scalar") && !parse_int(eq + 1, 1, INT32_MAX, &v))) /* scalar: 0 */
            return false;
        c->dim[c->opt.n_dims].name = keep(arg, (size_t)(eq - arg));
        c->dim[c->opt.n_dims++].value = v;
        c->opt.dim = c->dim;
        return true;
    }
    case OPT_SHARE:
        c->share = arg;
        return one_of(arg, "exclusive|concurrent");
    case OPT_ALIGN:
        return parse_int(arg, 1, 4096, &c->opt.align) && !(c->opt.align & (c->opt.align - 1));
    case OPT_PRESERVE:
        c->opt.preserve_input = !strcmp(arg, "input");
        c->opt.preserve_all = !strcmp(arg, "all");
        return one_of(arg, "input|all");
    case OPT_PLANNER:
        c->opt.planner = arg;
        return true;
    case OPT_REFERENCE:
        c->opt.reference_tflite = !strcmp(arg, "tflite");
        c->reference_tflm = c->verb == AC_VERB_PLAN && !strcmp(arg, "tflm");
        return c->opt.reference_tflite || c->reference_tflm;
    case OPT_SCHEDULE:
        c->opt.schedule_search = !strcmp(arg, "search");
        return one_of(arg, "keep|search");
    case OPT_RECOMPUTE:
        return c->opt.recompute = true;
    case OPT_INPLACE:
        return on_off(arg, &c->opt.inplace);
    case OPT_OVERLAP:
        c->opt.overlap = !strcmp(arg, "on");
        return one_of(arg, "on|off");
    case OPT_STRIPE:
        c->opt.stripe = strcmp(arg, "off") != 0;
        c->opt.stripe_list = one_of(arg, "off|auto") ? NULL : arg;
        return *arg != 0;
    case OPT_IO:
        c->opt.io_rows = !strcmp(arg, "rows");
        return one_of(arg, "arena|rows");
    case OPT_VIEWS:
        return on_off(arg, &c->opt.views);
    case OPT_QUANTIZED_IO:
        c->opt.quantized_io = true;
        return true;
    case OPT_WEIGHTS:
        c->opt.weights = arg;
        return one_of(arg, "auto|rodata|asm|blob");
    case OPT_SECTION:
        return section(arg, &c->opt);
    case OPT_THREADS:
        return parse_int(arg, 1, 64, &c->opt.threads);
    case OPT_WINOGRAD:
        c->opt.winograd = arg ? arg[0] - '0' : -1;
        return !arg || one_of(arg, "2|4");
    case OPT_TENSOR_CORES:
        c->opt.tensor_cores = arg;
        return one_of(arg, "off|int8|tf32|bf16|f16");
    case OPT_TUNED:
        c->opt.tuned = arg;
        return *arg != 0;
    case OPT_TUNE:
        c->tune = true;
        return true;
    case OPT_SHARE_KERNELS:
        c->opt.share_kernels = true;
        return true;
    case OPT_POISON:
        c->opt.poison = true;
        return true;
    case OPT_HOST:
        c->opt.caller_io = true;
        return true;
    case OPT_EXACT:
        c->opt.exact = true;
        return true;
    case OPT_SKIP:
        return push_name(c->skip, &c->opt.skip, arg);
    case OPT_STOP_AFTER:
        c->opt.stop_after = arg;
        return true;
    case OPT_DUMP_AFTER:
        return push_name(c->dump_after, &c->opt.dump_after, arg);
    case OPT_TIME_PASSES:
        c->time_passes = true;
        return true;
    case OPT_CONST:
        return key_file(arg, c->fixed, &c->n_fixed);
    case OPT_INPUT:
        return key_file(arg, c->input, &c->n_inputs);
    case OPT_RANDOM:
        if (!parse_int(arg, 0, INT64_MAX, &c->seed))
            return false;
        c->random = c->opt.random_weights = true;
        c->opt.seed = (uint64_t)c->seed;
        return true;
    case OPT_OUTPUT_DIR:
        c->output_dir = arg;
        return *arg != 0;
    case OPT_COMPARE:
        return key_file(arg, c->compare, &c->n_compares);
    case OPT_MAX_ULP:
        return parse_int(arg, 0, INT32_MAX, &c->max_ulp);
    case OPT_BACKEND:
        c->backend = arg;
        return *arg != 0;
    case OPT_TAPS:
        c->taps = arg;
        return keep_file_operators(c);
    case OPT_PER_NODE:
        c->per_node = true;
        return true;
    case OPT_RUNS:
        return parse_int(arg, 1, 1000000000, &c->runs);
    case OPT_PER_OP:
        c->per_op = true;
        return true;
    case OPT_LOOPS:
        c->loops = arg;
        return true;
    case OPT_LOCK:
        c->lock = arg;
        return *arg != 0;
    case OPT_UPDATE_LOCK:
        c->update_lock = true;
        return true;
    case OPT_MD:
        c->md = true;
        return true;
    case OPT_IGNORE_OFFSETS:
        c->ignore_offsets = true;
        return true;
    case OPT_MAX_MEMORY:
        return ac_parse_size(arg, &c->opt.max_memory) && c->opt.max_memory >= 1 << 20;
    case OPT_MAX_ERRORS:
        if (!parse_int(arg, 1, INT32_MAX, &v))
            return false;
        c->opt.max_errors = (int32_t)v;
        return true;
    case OPT_JSON:
        c->json = true;
        return true;
    case OPT_COLOR:
        c->color = !strcmp(arg, "always") || (c->color && strcmp(arg, "never"));
        return one_of(arg, "auto|always|never");
    case OPT_QUIET:
        c->quiet = true;
        return true;
    case OPT_VERBOSE:
        c->verbose++;
        return true;
    case OPT_WERROR:
        c->opt.werror = true;
        return true;
    case OPT_MAN:
        c->man = true;
        return true;
    case OPT_HELP:
    case OPT_HELP_ALL:
    case OPT_VERSION:
    case OPT_COUNT:
        return true;
    }
    return true;
}

static int find_long(const char *name, size_t n)
{
    for (int i = 0; i < OPT_COUNT; i++)
        if (strlen(OPTIONS[i].name) == n && !strncmp(OPTIONS[i].name, name, n))
            return i;
    return -1;
}

static int unknown_option(const char *arg, size_t n, ac_verb verb)
{
    const char *names[OPT_COUNT];
    int32_t k = 0;
    for (int i = 0; i < OPT_COUNT; i++)
        if (takes(verb, (opt_id)i))
            names[k++] = OPTIONS[i].name;
    char word[64] = {0};
    strncpy(word, arg, n < sizeof word ? n : sizeof word - 1);
    const char *near = ac_closest(word, names, k);
    return near ? wrong("unknown option '--%s'; did you mean '--%s'?", word, near)
                : wrong("unknown option '--%s' of %s; --help-all lists the options", word, VERBS[verb].name);
}

/* Options argv[i] of the verb; files are collected. Returns -1 or an exit status. */
static int parse_one(ac_cli *c, int argc, char **argv, int *at)
{
    const char *a = argv[*at], *value = NULL;
    int id = -1;
    if (a[1] == '-') {
        size_t n = strcspn(a + 2, "=");
        id = find_long(a + 2, n);
        if (id < 0 || !takes(c->verb, (opt_id)id))
            return unknown_option(a + 2, n, c->verb);
        if (a[2 + n] == '=')
            value = a + 3 + n;
        if (value && !OPTIONS[id].arg)
            return wrong("option '--%s' takes no argument%s", OPTIONS[id].name, "");
    } else if (!strcmp(a, "-Werror")) {
        id = OPT_WERROR;
    } else {
        for (const char *p = a + 1; *p; p++) { /* -vv, -qv, -oFILE */
            id = -1;
            for (int i = 0; i < OPT_COUNT; i++)
                if (OPTIONS[i].letter == *p && takes(c->verb, (opt_id)i))
                    id = i;
            if (id < 0)
                return wrong("unknown option '%s' of %s; --help lists the options", a, VERBS[c->verb].name);
            if (OPTIONS[id].arg && OPTIONS[id].arg[0] != '[') {
                value = p[1] ? p + 1 : NULL;
                break;
            }
            if (p[1])
                apply(c, (opt_id)id, NULL);
        }
    }
    if (id == OPT_HELP || id == OPT_HELP_ALL) {
        ac_help_print(stdout, c->verb, id == OPT_HELP_ALL);
        return 0;
    }
    if (id == OPT_VERSION) {
        printf("arenac %s\n", arenac_version());
        return 0;
    }
    if (OPTIONS[id].arg && OPTIONS[id].arg[0] != '[' && !value) {
        if (*at + 1 >= argc)
            return wrong("option '--%s' needs an argument: %s", OPTIONS[id].name, OPTIONS[id].arg);
        value = argv[++*at];
    }
    if (!apply(c, (opt_id)id, value)) {
        if (id == OPT_BUDGET || id == OPT_MAX_MEMORY)
            return wrong("'%s' is not a size: write bytes, or a whole number with K, M or G (1024); found in --%s",
                         value, OPTIONS[id].name);
        return wrong("bad argument '%s' of --%s", value, OPTIONS[id].name);
    }
    return -1;
}

int ac_cli_parse(int argc, char **argv, ac_cli *cli)
{
    memset(cli, 0, sizeof *cli);
    arenac_defaults(&cli->opt);
    cli->max_ulp = -1;
    cli->color = isatty(2) && !getenv("NO_COLOR");
    cli->verb = AC_VERB_PLAN;
    int i = 1;
    if (argc < 2) {
        ac_help_overview(stderr);
        return AC_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
        ac_help_overview(stdout);
        return 0;
    }
    if (ac_verb_find(argv[1], &cli->verb)) {
        i = 2;
    } else if (argv[1][0] != '-' &&
               !strpbrk(argv[1], "./")) { /* neither a verb nor a file name: most likely a typing error */
        const char *names[AC_VERB_COUNT];
        for (int v = 0; v < AC_VERB_COUNT; v++)
            names[v] = VERBS[v].name;
        const char *near = ac_closest(argv[1], names, AC_VERB_COUNT);
        if (near && access(argv[1], F_OK))
            return wrong("unknown verb '%s'; did you mean '%s'?", argv[1], near);
    }
    bool only_files = false;
    for (; i < argc; i++) {
        if (!only_files && !strcmp(argv[i], "--")) {
            only_files = true;
        } else if (!only_files && argv[i][0] == '-' && argv[i][1]) {
            int status = parse_one(cli, argc, argv, &i);
            if (status >= 0)
                return status;
        } else if (cli->n_files == AC_CLI_MAX) {
            return wrong("too many files (%s)%s", argv[i], "");
        } else {
            cli->file[cli->n_files++] = argv[i];
        }
    }
    cli->opt.skip.item = cli->skip;
    cli->opt.dump_after.item = cli->dump_after;
    return -1;
}
