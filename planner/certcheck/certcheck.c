/* certcheck.c - replays an infeasibility certificate: a proof that no plan of a given size exists.
 *
 *     arenac-certcheck PROBLEM.csv CERTIFICATE        0: valid, 1: refused (line and reason), 2: cannot be read
 *     arenac-certcheck CERTIFICATE                    of code: prove/replay has all of it
 *
 * Shares no source with the solver: it reads the problem itself and checks the claim of every line against its own
 * state before it accepts the line. docs/certificates.md defines the lines and shows that they are proofs. Terms: an
 * item's `low` is the least offset it can have; a deferred item does not start at `defer` and needs a blocker.
 *
 * Cost: a line visits the items, or the neighbours of one item. Memory: the states that "keep" lines store. */
#include "prove/replay/check_code.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITEMS = 4096, MAX_DEPTH = 30000, MAX_COLUMNS = 64 };
static const int64_t MAX_VALUE = (int64_t)1 << 47; /* times MAX_ITEMS stays below 2^60 */

typedef struct {
    int64_t begin, end;
} piece; /* steps with all bytes of the item */

typedef struct {
    int64_t size, align, fixed, padded; /* fixed: -1 is free */
    piece *piece;
    int n_pieces;
    int64_t begin, end; /* of the first and the last piece */
    int *neighbour, n_neighbours;
} item;

typedef struct {
    int64_t *at, old;
} change;
typedef struct {
    int64_t from, to, n, *kept; /* n times: item, low, defer */
    bool open;
} label;

/* One run; everything lives until exit. */
static item *items;
static int n_items;
static int64_t n_labels, capacity, *low, *defer, *gone; /* gone: placed, or outside of the part a "keep" is about */
static change *trail;
static size_t n_trail, cap_trail;
static label *labels;
static const char *text;
static long line_no;

static int status = 2; /* exit status of a refusal; 1 once the problem has been read */

/* Nothing is freed on the way out: the system takes all of it back. */
#define leave(status) (fflush(stdout), _Exit(status))
/* Ends the program with a reason when the condition holds. */
#define REFUSE_IF(wrong, ...) \
    ((wrong) ? (printf("REFUSED line %ld: ", line_no), printf(__VA_ARGS__), putchar('\n'), leave(status)) : (void)0)

static void *resized(void *old, size_t n, size_t size)
{
    void *p = n > SIZE_MAX / 2 / size ? NULL : realloc(old, n * size + 1);
    REFUSE_IF(!p, "out of memory");
    return p;
}

static void set(int64_t *at, int64_t v)
{
    if (n_trail == cap_trail)
        trail = resized(trail, cap_trail = 2 * cap_trail + 1024, sizeof *trail);
    trail[n_trail++] = (change){at, *at};
    *at = v;
}

static void undo(size_t mark)
{
    while (n_trail > mark) {
        n_trail--;
        *trail[n_trail].at = trail[n_trail].old;
    }
}

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    long size = f && !fseek(f, 0, SEEK_END) ? ftell(f) : -1;
    REFUSE_IF(size < 0 || fseek(f, 0, SEEK_SET), "cannot read %s", path);
    char *s = resized(NULL, (size_t)size, 1);
    s[fread(s, 1, (size_t)size, f)] = 0;
    fclose(f);
    return s;
}

/* Cuts the next field off *s; quotes go. Returns the character after it: ',' '\n' or 0. */
static char next_field(char **s, char **field)
{
    char *p = *s, *out = *field = *s;
    bool quoted = false;
    for (; *p && (quoted || (*p != ',' && *p != '\n')); p++)
        if (*p == '"')
            quoted = !quoted;
        else if (*p != '\r')
            *out++ = *p;
    char end = *p;
    *s = p + (end != 0);
    *out = 0;
    return end;
}

static int64_t number(const char **s)
{
    char *end;
    long long v = strtoll(*s, &end, 10);
    REFUSE_IF(end == *s || v >= MAX_VALUE || v <= -MAX_VALUE || (*end && !strchr(" -", *end)),
              "'%s' is not a usable number", *s);
    *s = end;
    return v;
}

/* The life [begin, end) without its gaps "a-b a-b ...", which must be in order. */
static void cut_gaps(item *it, int64_t begin, int64_t end, const char *gaps)
{
    for (bool last = false; !last;) {
        int64_t from = end, to = end;
        last = !*gaps;
        if (!last) {
            from = number(&gaps);
            gaps += *gaps == '-';
            to = number(&gaps);
            gaps += *gaps == ' ';
        }
        REFUSE_IF(from < begin || to < from || to > end, "a gap is out of order or outside the life");
        it->piece = resized(it->piece, (size_t)it->n_pieces + 1, sizeof *it->piece);
        if (begin < from && it->size) {
            it->begin = it->n_pieces ? it->begin : begin;
            it->end = from;
            it->piece[it->n_pieces++] = (piece){begin, from};
        }
        begin = to;
    }
}

enum { LOWER, UPPER, SIZE, ALIGN, GAPS, OFFSET, OTHER };

static int column_of(const char *name)
{
    static const char *const NAMES[OTHER] = {"lower", "upper", "size", "alignment", "gaps", "offset"};
    int k = 0;
    while (k < OTHER && strcmp(NAMES[k], name))
        k++;
    return k;
}

static void read_item(const char **field)
{
    REFUSE_IF(!field[LOWER] || !field[UPPER] || !field[SIZE] || n_items == MAX_ITEMS,
              "lower, upper or size is missing, or there are more than %d items", MAX_ITEMS);
    items = resized(items, (size_t)n_items + 1, sizeof *items);
    item *it = &items[n_items++];
    *it = (item){.size = number(&field[SIZE]), .align = 1, .fixed = -1};
    if (field[ALIGN] && *field[ALIGN])
        it->align = number(&field[ALIGN]);
    if (field[OFFSET] && *field[OFFSET] && *field[OFFSET] != '-')
        it->fixed = number(&field[OFFSET]);
    REFUSE_IF(it->size < 0 || it->align < 1 || (it->fixed > 0 && it->fixed % it->align),
              "a bad size, alignment or fixed offset");
    int64_t begin = number(&field[LOWER]);
    cut_gaps(it, begin, number(&field[UPPER]), field[GAPS] ? field[GAPS] : "");
}

static void read_problem(char *s)
{
    int column[MAX_COLUMNS], n_columns = 0;
    char *field, end;
    do {
        end = next_field(&s, &field);
        column[n_columns++] = column_of(field);
    } while (end == ',' && n_columns < MAX_COLUMNS);
    while (*s) {
        const char *row[OTHER + 1] = {0};
        int k = 0;
        line_no++;
        do {
            end = next_field(&s, &field);
            row[k < n_columns ? column[k++] : OTHER] = field;
        } while (end == ',');
        if (k > 1 || *field) /* not a blank line */
            read_item(row);
    }
}

static bool conflict(const item *a, const item *b)
{
    for (const piece *x = a->piece; x < a->piece + a->n_pieces; x++)
        for (const piece *y = b->piece; y < b->piece + b->n_pieces; y++)
            if (x->begin < y->end && y->begin < x->end)
                return true;
    return false;
}

static int64_t align_up(int64_t v, int64_t to)
{
    return (v + to - 1) / to * to;
}

/* Neighbours, and sizes rounded up to the common divisor of all alignments: where the next item above can start. */
static void prepare(void)
{
    int64_t unit = 0;
    for (int i = 0; i < n_items; i++)
        for (int64_t b = items[i].n_pieces ? items[i].align : 0, c; b; b = c) {
            c = unit % b;
            unit = b;
        }
    low = resized(NULL, 3 * (size_t)n_items, sizeof *low);
    defer = low + n_items;
    gone = defer + n_items;
    for (int i = 0; i < n_items; i++) {
        item *it = &items[i];
        it->neighbour = resized(NULL, (size_t)n_items, sizeof *it->neighbour);
        for (int j = 0; j < n_items; j++)
            if (j != i && conflict(it, &items[j]))
                it->neighbour[it->n_neighbours++] = j;
        it->padded = unit ? align_up(it->size, unit) : it->size;
        low[i] = it->fixed < 0 ? 0 : it->fixed;
        defer[i] = -1;
        gone[i] = !it->n_pieces;
    }
}

static bool word(const char *w) /* takes w off the line if it comes next */
{
    size_t n = strlen(w);
    if (strncmp(text, w, n) || (text[n] != ' ' && text[n] != '\n'))
        return false;
    text += n;
    return true;
}

static int64_t argument(void)
{
    char *end;
    REFUSE_IF(*text++ != ' ' || ((*text < '0' || *text > '9') && *text != '-'), "a number is missing");
    long long v = strtoll(text, &end, 10);
    text = end;
    return v;
}

static int item_argument(void)
{
    int64_t i = argument();
    REFUSE_IF(i < 0 || i >= n_items || gone[i], "item %lld is not there, or placed, or not in this part", (long long)i);
    return (int)i;
}

static void end_line(void)
{
    REFUSE_IF(*text++ != '\n', "the line does not end here");
    line_no++;
}

static bool alive(int i, int64_t step)
{
    const piece *x = items[i].piece, *end = x + items[i].n_pieces;
    while (x < end && (step < x->begin || x->end <= step))
        x++;
    return !gone[i] && x < end;
}

/* The items alive in `step` by low. Stacked in this order, each as low as it can be, they need the least top. */
static void check_over(int64_t step)
{
    static int stack[MAX_ITEMS];
    int n = 0;
    int64_t top = 0, pad = 0;
    for (int i = 0; i < n_items; i++) {
        if (!alive(i, step))
            continue;
        if (low[i] + items[i].size > capacity)
            return;
        int k = n++;
        for (; k && low[stack[k - 1]] > low[i]; k--)
            stack[k] = stack[k - 1];
        stack[k] = i;
        if (items[i].padded - items[i].size > pad)
            pad = items[i].padded - items[i].size;
    }
    for (int k = 0; k < n; k++)
        top = (low[stack[k]] > top ? low[stack[k]] : top) + items[stack[k]].padded;
    REFUSE_IF(!n || top - pad <= capacity, "the items alive in step %lld fit", (long long)step);
}

/* The least top of a neighbour that can still block deferred item i; INT64_MAX if none can. */
static int64_t least_blocker(int i)
{
    int64_t least = INT64_MAX;
    REFUSE_IF(defer[i] < 0, "item %d is not deferred", i);
    for (int k = 0; k < items[i].n_neighbours; k++) {
        int j = items[i].neighbour[k];
        if (!gone[j] && low[j] < defer[i] + items[i].size && low[j] + items[j].size < least)
            least = low[j] + items[j].size;
    }
    return least;
}

static bool keeps_offset(int i)
{
    return items[i].fixed < 0 || (low[i] <= items[i].fixed && defer[i] < 0);
}

static void do_lift(int i)
{
    int64_t least = least_blocker(i);
    if (least != INT64_MAX && align_up(least, items[i].align) > low[i])
        set(&low[i], align_up(least, items[i].align));
}

static void do_place(int i)
{
    int64_t at = low[i], top = at + items[i].size;
    set(&gone[i], 1);
    for (int k = 0; k < items[i].n_neighbours; k++) {
        int j = items[i].neighbour[k];
        if (gone[j])
            continue;
        if (defer[j] >= 0 && at < defer[j] + items[j].size)
            set(&defer[j], -1);
        if (low[j] < top)
            set(&low[j], align_up(top, items[j].align));
    }
}

static bool in_part(int i, int64_t from, int64_t to)
{
    return !gone[i] && items[i].begin <= to && from < items[i].end;
}

/* The items of steps from..to must have nothing to do with the others: then their failure is everyone's. */
static int check_part(int64_t from, int64_t to)
{
    int64_t begin = INT64_MAX, end = INT64_MIN;
    int n = 0;
    for (int i = 0; i < n_items; i++)
        if (in_part(i, from, to)) {
            n++;
            begin = items[i].begin < begin ? items[i].begin : begin;
            end = items[i].end > end ? items[i].end : end;
        }
    for (int i = 0; i < n_items; i++)
        REFUSE_IF(!gone[i] && !in_part(i, from, to) && items[i].begin < end && begin < items[i].end,
                  "item %d crosses the edge of the part", i);
    return n;
}

static int64_t open_label(void)
{
    REFUSE_IF(argument() != n_labels + 1, "labels count up from 1");
    labels = n_labels & (n_labels + 1) ? labels : resized(labels, 2 * (size_t)n_labels + 2, sizeof *labels);
    label *l = &labels[n_labels++];
    *l = (label){.from = argument(), .open = true};
    l->to = argument();
    l->kept = resized(NULL, 3 * (size_t)check_part(l->from, l->to), sizeof *l->kept);
    for (int i = 0; i < n_items; i++)
        if (in_part(i, l->from, l->to))
            memcpy(&l->kept[3 * l->n++], (int64_t[3]){i, low[i], defer[i]}, 3 * sizeof *l->kept);
        else if (!gone[i])
            set(&gone[i], 1);
    end_line();
    return n_labels - 1;
}

static void check_same(void)
{
    int64_t k = argument();
    REFUSE_IF(k < 1 || k > n_labels || labels[k - 1].open, "part %lld is not proven yet", (long long)k);
    const label *l = &labels[k - 1];
    REFUSE_IF(check_part(l->from, l->to) != l->n, "part %lld has other items", (long long)k);
    for (const int64_t *x = l->kept; x < l->kept + 3 * l->n; x += 3)
        REFUSE_IF(gone[x[0]] || low[x[0]] != x[1] || defer[x[0]] != x[2], "an item differs from part %lld",
                  (long long)k);
}

/* Candidates that are equal replace each other: all are at the floor and not deferred. */
static bool equal_items(const item *a, const item *b)
{
    return a->size == b->size && a->align == b->align && a->fixed < 0 && b->fixed < 0 && a->n_pieces == b->n_pieces &&
           !memcmp(a->piece, b->piece, (size_t)a->n_pieces * sizeof *a->piece);
}

/* The candidates of a step: who could start at its floor. Nothing may get below them. */
static int *candidates_of(int64_t step, int *n)
{
    int *list = resized(NULL, (size_t)n_items, sizeof *list);
    int64_t floor = INT64_MAX;
    for (int i = 0; i < n_items; i++)
        if (alive(i, step) && low[i] < floor)
            floor = low[i];
    *n = 0;
    for (int i = 0; i < n_items; i++) {
        if (!alive(i, step) || low[i] != floor || defer[i] >= 0)
            continue;
        list[(*n)++] = i;
        for (const int *j = items[i].neighbour; j < items[i].neighbour + items[i].n_neighbours; j++)
            REFUSE_IF(!gone[*j] && low[*j] + items[*j].size <= floor, "item %d could still go below item %d", *j, i);
    }
    return resized(list, (size_t)*n, sizeof *list);
}

static void prove(int depth);

static void prove_node(int depth)
{
    int64_t step = argument(), n_children = argument();
    int n, *list = candidates_of(step, &n);
    bool *tried = resized(NULL, (size_t)n, sizeof *tried), none = false;
    memset(tried, 0, (size_t)n);
    end_line();
    for (int64_t c = 0; c < n_children; c++) {
        size_t mark = n_trail;
        if (word("none")) {
            none = true;
            for (int k = 0; k < n; k++)
                set(&defer[list[k]], low[list[k]]);
        } else if (word("try")) {
            int i = item_argument();
            bool found = false;
            for (int k = 0; k < n; k++) {
                found = found || list[k] == i;
                tried[k] = tried[k] || list[k] == i || equal_items(&items[list[k]], &items[i]);
            }
            REFUSE_IF(!found, "item %d cannot start at the floor of step %lld", i, (long long)step);
            do_place(i);
        } else {
            REFUSE_IF(true, "expected try or none");
        }
        end_line();
        prove(depth + 1);
        undo(mark);
    }
    REFUSE_IF(!none, "the branch with none of the candidates is missing");
    for (int k = 0; k < n; k++)
        REFUSE_IF(!tried[k], "item %d could start at the floor of step %lld and is not tried", list[k],
                  (long long)step);
    free(list);
    free(tried);
}

/* Checks one proof that the current state has no plan. Returns if it holds; the caller undoes its changes. */
static void prove(int depth)
{
    REFUSE_IF(depth > MAX_DEPTH, "deeper than %d levels", MAX_DEPTH);
    for (; word("lift"); end_line())
        while (*text == ' ')
            do_lift(item_argument());
    if (word("node")) {
        prove_node(depth);
        return;
    }
    if (word("keep")) {
        int64_t k = open_label();
        prove(depth + 1);
        labels[k].open = false;
        return;
    }
    if (word("over"))
        check_over(argument());
    else if (word("same"))
        check_same();
    else if (word("free"))
        REFUSE_IF(least_blocker(item_argument()) != INT64_MAX, "the item can still be blocked");
    else if (word("fixed"))
        REFUSE_IF(keeps_offset(item_argument()), "the item can have its fixed offset, or has none");
    else
        REFUSE_IF(true, "no such line");
    end_line();
}

/* Takes "WORD number" off the certificate. */
static int64_t header(const char *name)
{
    REFUSE_IF(!word(name), "expected %s", name);
    int64_t v = argument();
    end_line();
    return v;
}

static const char usage[] = "usage: arenac-certcheck PROBLEM.csv CERTIFICATE\n"
                            "       arenac-certcheck CERTIFICATE [--code FILE]";

int main(int argc, char **argv)
{
    if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
        puts(usage);
        leave(0);
    }
    if (argc == 2 || (argc == 4 && !strcmp(argv[2], "--code"))) { /* of code */
        const int verdict = check_code(argv[1], argc == 4 ? argv[3] : NULL);
        leave(verdict);
    }
    if (argc != 3) {
        fprintf(stderr, "%s\n", usage);
        leave(2);
    }
    read_problem(read_file(argv[1]));
    prepare();
    text = read_file(argv[2]);
    line_no = status = 1;
    REFUSE_IF(header("arenac-certificate") != 1, "not version 1");
    REFUSE_IF(header("items") != n_items, "the problem has %d items", n_items);
    capacity = header("capacity");
    prove(0);
    REFUSE_IF(!word("end"), "expected end");
    end_line();
    REFUSE_IF(*text, "text after the end");
    printf("VALID no plan of %lld bytes or fewer\n", (long long)capacity);
    leave(0);
}
