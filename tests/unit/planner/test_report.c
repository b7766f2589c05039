/* test_report.c - picture, page and lock of a plan worked out by hand, with names that try to break out of them. */
#include "planner/report/lock.h"
#include "planner/report/picture.h"
#include "tests/unit/support/in_context.h"

#include <stdio.h>
#include <string.h>

static int32_t count(const char *text, const char *word)
{
    int32_t n = 0;
    for (const char *s = text; (s = strstr(s, word)); s += strlen(word))
        n++;
    return n;
}

/* Four steps. `b` gives up its upper half in step 2, `c` is computed in `b`'s place, `s` is state in a memory of its
 * own. a [0,1) 64 at 128    b [0,4) 128 at 0, bytes 0..63 in step 2    d [2,3) 60 at 64    s [0,4) 16 in state */
static const char *const EVIL[] = {"a</script><img src=x onerror=alert(1)>", "b \"quoted\" & 'single'",
                                   "c\xff\xc0\x80 \x01%20#", "d]]>", "s${1}\\u003c"};

typedef struct world {
    ac_problem p;
    ac_plan plan;
    ac_report r;
    ac_item item[4];
    ac_gap gap;
    ac_memory mem[2];
    ac_bytes offset[4], bytes[2];
    int32_t where[4];
    ac_report_tensor tensor[5];
    ac_report_step step[4];
    int32_t reads[2];
    ac_result row[2];
} world;

/* Items, memories, and the addresses of items. */
static void build_plan(world *w)
{
    w->gap = (ac_gap){{2, 3}, 0, 64};
    w->item[0] = (ac_item){
        .name = EVIL[0], .size = 64, .align = 16, .life = {0, 1}, .fixed = -1, .mem = 0, .kind = AC_ITEM_INPUT};
    w->item[1] = (ac_item){
        .name = EVIL[1], .size = 128, .align = 16, .life = {0, 4}, .fixed = -1, .mem = 0, .gaps = &w->gap, .n_gaps = 1};
    w->item[2] = (ac_item){
        .name = EVIL[3], .size = 60, .align = 16, .life = {2, 3}, .fixed = -1, .mem = 0, .kind = AC_ITEM_SCRATCH};
    w->item[3] = (ac_item){
        .name = EVIL[4], .size = 16, .align = 16, .life = {0, 4}, .fixed = -1, .mem = 1, .kind = AC_ITEM_STATE};
    w->mem[0] = (ac_memory){.name = "arena", .capacity = -1, .align = 16};
    w->mem[1] = (ac_memory){.name = "state", .capacity = -1, .align = 16, .use = AC_MEM_STATE};
    w->p = (ac_problem){.item = w->item, .n = 4, .mem = w->mem, .n_mems = 2, .steps = 4};
    w->offset[0] = 128;
    w->offset[2] = 64;
    w->where[3] = 1;
    w->bytes[0] = 192;
    w->bytes[1] = 16;
    w->plan = (ac_plan){.offset = w->offset,
                        .mem = w->where,
                        .mem_bytes = w->bytes,
                        .arena_bytes = 192,
                        .bound = 192,
                        .strategy = "greedy"};
    w->row[0] = (ac_result){"greedy", 192};
    w->row[1] = (ac_result){"none", 256};
}

static void build_tensors(world *w)
{
    w->reads[0] = 1;
    w->reads[1] = 3;
    w->tensor[0] = (ac_report_tensor){.name = EVIL[0],
                                      .dtype = "i8",
                                      .shape = "[64]",
                                      .bytes = 64,
                                      .item = 0,
                                      .last = 0,
                                      .producer = -1,
                                      .input = true};
    w->tensor[1] = (ac_report_tensor){.name = EVIL[1],
                                      .dtype = "i8",
                                      .shape = "[128]",
                                      .bytes = 128,
                                      .item = 1,
                                      .last = 1,
                                      .producer = 0,
                                      .consumers = w->reads,
                                      .n_consumers = 1};
    w->tensor[2] = (ac_report_tensor){.name = EVIL[2],
                                      .dtype = "i8",
                                      .shape = "[128]",
                                      .bytes = 128,
                                      .item = 1,
                                      .first = 1,
                                      .last = 3,
                                      .producer = 1,
                                      .alias_of = EVIL[1],
                                      .alias_how = "in-place",
                                      .output = true};
    w->tensor[3] = (ac_report_tensor){.name = EVIL[4],
                                      .dtype = "i8",
                                      .shape = "[16]",
                                      .bytes = 16,
                                      .item = 3,
                                      .last = 3,
                                      .producer = -1,
                                      .consumers = w->reads + 1,
                                      .n_consumers = 1,
                                      .state = true};
}

static void build(world *w)
{
    memset(w, 0, sizeof *w);
    build_plan(w);
    build_tensors(w);
    for (int k = 0; k < 4; k++)
        w->step[k] = (ac_report_step){.op = "OP <&\" "
                                            "x",
                                      .name = EVIL[2],
                                      .live = 128};
    w->r = (ac_report){.file = "<evil>&\".tflite",
                       .format = "test",
                       .version = "0",
                       .target = "generic",
                       .n_file_ops = 4,
                       .budget = 200,
                       .no_sharing = 252,
                       .live_bound = 192,
                       .aligned_bound = 192,
                       .problem = &w->p,
                       .plan = &w->plan,
                       .rows = w->row,
                       .n_rows = 2,
                       .planner_option = "auto",
                       .tensor = w->tensor,
                       .n_tensors = 4,
                       .step = w->step,
                       .n_steps = 4};
}

/* Elements nest, attributes are quoted, no stray '<' or '&'. Enough of XML for what we print. */
static bool well_formed(const char *s)
{
    char open[32][24];
    int depth = 0;
    while (*s) {
        if (*s == '&' && strncmp(s, "&lt;", 4) && strncmp(s, "&gt;", 4) && strncmp(s, "&amp;", 5) &&
            strncmp(s, "&quot;", 6))
            return false;
        if ((unsigned char)*s < ' ' && *s != '\n')
            return false;
        if (*s++ != '<')
            continue;
        bool close = *s == '/';
        s += close;
        size_t n = strcspn(s, " />");
        if (!n || n >= sizeof open[0])
            return false;
        if (close) {
            if (!depth-- || strlen(open[depth]) != n || memcmp(open[depth], s, n))
                return false;
        } else {
            if (depth == 32)
                return false;
            memcpy(open[depth], s, n);
            open[depth++][n] = 0;
        }
        for (s += n; *s && *s != '>';) { /* attributes */
            if (*s == '/' && s[1] == '>' && !close) {
                depth--;
                s++;
                continue;
            }
            s += *s == ' ';
            size_t key = strcspn(s, "= />\"");
            if (!key || s[key] != '=' || s[key + 1] != '"')
                return false;
            s += key + 2;
            s += strcspn(s, "\"<");
            if (*s++ != '"')
                return false;
        }
        if (!*s)
            return false;
    }
    return depth == 0;
}

static void test_picture(ac_ctx *cx)
{
    world w;
    build(&w);
    const ac_piece *piece;
    ac_picture *pic = ac_picture_of(cx, &w.r, AC_SVG_FILE);
    CHECK(pic->n_rows == 5 && pic->n_panels == 2);
    CHECK(pic->root[0] == 0 && pic->root[1] == 1 && pic->root[2] == 4 && pic->root[3] == 3);
    CHECK(!strcmp(ac_picture_kind(pic, 0), "in") && !strcmp(ac_picture_kind(pic, 2), "out"));
    CHECK(!strcmp(ac_picture_kind(pic, 3), "state") && !strcmp(ac_picture_kind(pic, 4), "scratch"));
    CHECK(ac_picture_pieces(cx, pic, 1, &piece) == 3); /* the true shape over time */
    CHECK(piece[0].end == 2 && piece[0].hi == 128 && piece[1].begin == 2 && piece[1].hi == 64 && piece[2].begin == 3 &&
          piece[2].end == 4);
    CHECK(ac_picture_pieces(cx, pic, 2, &piece) == 1 && piece->begin == 1 && piece->end == 4);

    ac_sink s;
    ac_sink_open(&s, cx);
    ac_report_svg(&s, &w.r);
    const char *svg = ac_sink_text(&s);
    CHECK(well_formed(svg));
    CHECK(!well_formed("<g><a b=\"x\"></g>") && !well_formed("<g b=\"<\"/>") && !well_formed("a & b")); /* the tester */
    CHECK(!strstr(svg, "<script") && !strstr(svg, "<img"));
    CHECK(count(svg, "class=\"t ") >= 5 && count(svg, "id=\"t") == 5);
    CHECK(strstr(svg, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd")); /* three bytes that are not UTF-8 */
    CHECK(strstr(svg, "lower bound 192 B, optimal") && strstr(svg, "class=\"bound\"") &&
          strstr(svg, "class=\"budget\""));
    CHECK(strstr(svg, "0x40-0x7b")); /* range of the scratch */
    CHECK(strstr(svg, "in-place of b &quot;quoted&quot;"));
}

static void test_names(ac_ctx *cx)
{
    static const char *const NAME[] = {"net/block_1_relu/Relu6;net/block_1_bn/add;net/block_1/convolution",
                                       "net/block_2_relu/Relu6;net/block_2_bn/add;net/block_2/convolution",
                                       "/features/block1/layer6/Concat_output_0",
                                       "/features/block1/layer7/Concat_output_0",
                                       "/features/block2/layer6/Concat_output_0",
                                       "/features/block2/layer7/Concat_output_0",
                                       "rows of net/block_1_relu/Relu6;net/block_1_bn/add;net/block_1/convolution",
                                       "abcdefghijklmnopqrstuvwxyz\xc3\xa4\xc3\xb6\xc3\xbc\xc3\xa4\xc3\xb6\xc3\xbc",
                                       "same/same/same/same/same",
                                       "same/same/same/same/same/7",
                                       "short/a",
                                       "layers_of_the_network/3",
                                       "layers_of_the_network/4"};
    enum { N = sizeof NAME / sizeof *NAME };
    ac_item item[N] = {0};
    for (int i = 0; i < N; i++)
        item[i].name = NAME[i];
    ac_problem p = {.item = item, .n = N};
    ac_report r = {.problem = &p};
    ac_name_list *names = ac_names_of(cx, &r);
    CHECK(!strcmp(ac_name_short(names, NAME[0]), "block_1_relu") &&
          !strcmp(ac_name_short(names, NAME[1]), "block_2_relu"));
    CHECK(!strcmp(ac_name_short(names, NAME[2]), "block1/layer6") &&
          !strcmp(ac_name_short(names, NAME[5]), "block2/layer7"));
    CHECK(!strcmp(ac_name_short(names, NAME[6]), "rows of block_1_relu"));
    CHECK(!strcmp(ac_name_short(names, NAME[8]), NAME[8])); /* every run of its parts is another name's too */
    CHECK(!strcmp(ac_name_short(names, NAME[9]), "same/7") && !strcmp(ac_name_short(names, NAME[10]), NAME[10]));
    CHECK(!strcmp(ac_name_short(names, NAME[11]), "layers_of_the_network/3")); /* "3" is not a name */
    CHECK(!strcmp(ac_name_fit(names, NAME[0], 12), "block_1_relu") &&
          !strcmp(ac_name_fit(names, NAME[0], 10), "bloc..relu"));
    CHECK(!strcmp(ac_name_fit(names, NAME[0], 200), "block_1_relu"));        /* the same in wide columns */
    CHECK(!strcmp(ac_name_fit(names, NAME[7], 9), "abc..\xc3\xb6\xc3\xbc")); /* no half characters */
}

static void test_page(ac_ctx *cx)
{
    world w;
    build(&w);
    ac_plan *other;
    CHECK(ac_solve_each(cx, w.r.problem, NULL, w.r.rows, w.r.n_rows, &other, &w.r.n_others) == AC_OK);
    CHECK(w.r.n_others == 2);
    w.r.other = other;
    ac_sink s;
    ac_sink_open(&s, cx);
    ac_report_html(&s, &w.r);
    const char *html = ac_sink_text(&s);
    CHECK(count(html, "</script>") == 2 && count(html, "<script") == 2 && !strstr(html, "<img"));
    CHECK(strstr(html, "default-src 'none'") && !strstr(html, "://"));
    CHECK(strstr(html, "\\u003c/script>"));
    const char *from = strstr(html, "id=\"plan-data\">"), *to = from ? strstr(from, "</script>") : NULL;
    const char *data = to ? ac_strf(cx->region, "%.*s", (int)(to - from), from) : NULL;
    CHECK(data && count(data, "\"greedy\"") == 1 && count(data, "\"none\"") == 1);
    const char *picture = strstr(html, "<svg id=\"picture\""),
               *end = picture ? strstr(picture, "</svg>\n</div>") : NULL;
    CHECK(end && well_formed(ac_strf(cx->region, "%.*s", (int)(end + 6 - picture), picture)));
}

typedef struct form {
    const char *name, *text, *want[12]; /* NULL ends them */
} form;

static const char *text_of(ac_ctx *cx, const ac_report *r, void print(ac_sink *, const ac_report *))
{
    ac_sink s;
    ac_sink_open(&s, cx);
    print(&s, r);
    return ac_strdup(cx->region, ac_sink_text(&s));
}

static void put_verbose(ac_sink *to, const ac_report *r)
{
    ac_report_text(to, r, 2, false);
}

static void put_json(ac_sink *to, const ac_report *r)
{
    ac_report_json(to, r, NULL);
}

static void put_lock(ac_sink *to, const ac_report *r)
{
    ac_lock_write(to, ac_lock_of(to->cx, r));
}

/* Every form contains the same facts: model, planner, arena, bound, budget, peak, and the address of `in`. */
static void test_same_facts(ac_ctx *cx)
{
    world w;
    build(&w);
    w.tensor[0].name = w.item[0].name = "in";
    w.r.file = "m.tflite";
    w.r.peak = 1;
    const form FORM[] = {
        {"text",
         text_of(cx, &w.r, put_verbose),
         {"m.tflite   test, 4 operators", "Lower bound 192 B = arena", "Found by greedy", "192 B   of 200 B",
          "operator 1 OP", "no sharing 252 B", "  in  ", "0x000080-0x0000bf      0      0"}},
        {"json",
         text_of(cx, &w.r, put_json),
         {"\"file\": \"m.tflite\"", "\"arena_bytes\": 192", "\"lower_bound_bytes\": 192", "\"strategy\": \"greedy\"",
          "\"capacity_bytes\": 200", "\"peak_step\": 1", "\"no_sharing_bytes\": 252", "\"name\": \"in\"",
          "\"offset_bytes\": 128"}},
        {"md",
         text_of(cx, &w.r, ac_report_md),
         {"### `m.tflite`", "| arena | 192 |", "| lower bound | 192 |", "Plan by greedy: optimal", "| budget | 200 |",
          "| no sharing | 252 |", "| `in` | i8 [64] | 64 | arena | 128 | 0 | 0 |"}},
        {"svg",
         text_of(cx, &w.r, ac_report_svg),
         {"m.tflite: arena 192 B, lower bound 192 B, optimal", "planner greedy", "class=\"peak\"", "class=\"bound\"",
          "class=\"budget\"", "<title>in\ni8 [64] 64 B, 0x80-0xbf\nsteps 0-0"}},
        {"html",
         text_of(cx, &w.r, ac_report_html),
         {"m.tflite: arena 192 B, lower bound 192 B, optimal", "planner greedy", "\"peak\": 1", "\"bound\": 192",
          "\"budget\": 200", ">in</button><td>i8 [64]<td class=\"n\">64<td class=\"at\">0x80-0xbf"}},
        {"lock",
         text_of(cx, &w.r, put_lock),
         {"model m.tflite", "planner greedy", "memory arena 192", "\nin 64 arena 128 0 0\n"}},
        {"dot", text_of(cx, &w.r, ac_report_dot), {"digraph \"m.tflite\"", "s1 [label=\"1 OP", "fillcolor", "\"in\""}},
    };
    for (size_t k = 0; k < sizeof FORM / sizeof *FORM; k++)
        for (const char *const *want = FORM[k].want; *want; want++) {
            const bool said = strstr(FORM[k].text, *want) != NULL;
            if (!said)
                printf("%s does not say \"%s\"\n", FORM[k].name, *want);
            CHECK(said);
        }
}

static void test_empty(ac_ctx *cx)
{
    ac_memory mem = {.name = "arena", .capacity = -1, .align = 1};
    ac_bytes none = 0;
    ac_problem p = {.mem = &mem, .n_mems = 1};
    ac_plan plan = {.mem_bytes = &none};
    ac_report r = {.problem = &p, .plan = &plan, .budget = -1};
    ac_sink s;
    ac_sink_open(&s, cx);
    ac_report_svg(&s, &r);
    CHECK(well_formed(ac_sink_text(&s)));
    ac_report_html(&s, &r);
    CHECK(ac_lock_compare(ac_lock_of(cx, &r), ac_lock_of(cx, &r)).same);
}

static const char *lock_text(ac_ctx *cx, const ac_lock *lock)
{
    ac_sink s;
    ac_sink_open(&s, cx);
    ac_lock_write(&s, lock);
    return ac_strdup(cx->region, ac_sink_text(&s));
}

static void test_lock(ac_ctx *cx)
{
    world w;
    build(&w);
    ac_lock *after = ac_lock_of(cx, &w.r), *then;
    const char *text = lock_text(cx, after);
    CHECK(after->n == 5 && ac_lock_looks_like(text, strlen(text)));
    CHECK(strstr(text, "\nmemory arena 192\nmemory state 16\n") &&
          strstr(text, "c\xff\xc0\x80%20%01%2520%23 128 arena 0 1 3\n"));
    CHECK(ac_lock_read(cx, "x.lock", text, strlen(text), &then) == AC_OK);
    CHECK(ac_lock_compare(then, after).same && !strcmp(lock_text(cx, then), text));
    CHECK(ac_lock_check(cx, then, after) == AC_OK);

    w.offset[0] = 192; /* one tensor moves, another grows, the arena with them */
    w.tensor[3].bytes = 12;
    w.bytes[0] = 256;
    ac_lock_delta d = ac_lock_compare(then, ac_lock_of(cx, &w.r));
    CHECK(!d.same && d.moved == 1 && d.resized == 1 && d.common == 5 && !d.same_mems && !d.same_graph);
    CHECK(d.largest && d.largest->offset == 128 && d.largest_to->offset == 192);
    int32_t errors = cx->diags.errors;
    CHECK(ac_lock_check(cx, then, ac_lock_of(cx, &w.r)) == AC_FAIL && cx->diags.errors == errors + 1);
    CHECK(cx->diags.last->code == E0602 && strstr(cx->diags.last->text, "arena 192 -> 256 B"));

    build(&w); /* renamed tensors are the same graph; none of the names is known */
    for (int k = 0; k < 4; k++)
        w.tensor[k].name = ac_strf(cx->region, "new%d", k);
    w.item[2].name = "scratch";
    d = ac_lock_compare(then, ac_lock_of(cx, &w.r));
    CHECK(d.same_graph && d.added == 5 && d.removed == 5 && d.common == 0);
    w.r.n_steps = 3;
    CHECK(ac_lock_strangers(then, ac_lock_of(cx, &w.r)));
    CHECK(ac_lock_check(cx, then, ac_lock_of(cx, &w.r)) == AC_FAIL && strstr(cx->diags.last->text, "another model"));

    for (size_t n = 0; n < strlen(text); n++) { /* every beginning of a lock is read or refused */
        char *copy = ac_copy(cx->region, text, n ? n : 1);
        cx->diags.errors = 0;
        ac_lock *part = NULL;
        CHECK((ac_lock_read(cx, "part.lock", copy, n, &part) == AC_OK) == (part != NULL));
    }
    static const char *const BAD[] = {"arenac-lock 2\n",
                                      "",
                                      "arenac-lock 1\nmodel\n",
                                      "arenac-lock 1\nmemory arena -1\n",
                                      "arenac-lock 1\nmemory arena 99999999999999999999\n",
                                      "arenac-lock 1\ncolour red\n",
                                      "arenac-lock 1\nmemory arena 1\n\na 1 arena 0 0 99999999999\n",
                                      "arenac-lock 1\nmemory arena 1\n\na 1 arena 0 0 0 0\n",
                                      "arenac-lock 1\n\n"};
    for (size_t k = 0; k < sizeof BAD / sizeof *BAD; k++)
        CHECK(ac_lock_read(cx, "bad.lock", BAD[k], strlen(BAD[k]), &then) == AC_FAIL && cx->diags.last->code == E0020);
}

static void all(ac_ctx *cx)
{
    test_picture(cx);
    test_names(cx);
    test_page(cx);
    test_same_facts(cx);
    test_empty(cx);
    test_lock(cx);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, all);
}
