/* certcheck.c - replays an infeasibility certificate: is it true that no plan of so many bytes exists?
 *
 *     arenac-certcheck PROBLEM.csv CERTIFICATE        0: valid, 1: refused (line and reason), 2: cannot be read
 *
 * Shares no source with the solver: it reads the problem itself and believes no line before it has checked the line's
 * claim against its own state. What a line means and why it is a proof: docs/certificates.md. The words used here: an
 * item's `low` is the least offset it can have; a deferred item does not start at `defer` and needs a blocker.
 *
 * Cost: a line looks at the items, or at the neighbours of one item. Memory: what "keep" lines ask to be remembered. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ITEMS = 4096, MAX_DEPTH = 30000, MAX_PIECES = 64 };
static const int64_t MAX_VALUE = (int64_t)1 << 47; /* times MAX_ITEMS stays below 2^60 */

typedef struct { int64_t begin, end; } piece; /* steps in which the item has all its bytes */

typedef struct {
    int64_t size, align, fixed, padded; /* fixed: -1 is free */
    piece *piece;
    int n_pieces;
    int *neighbour, n_neighbours;
} item;

typedef struct { int64_t *at, old; } change;
typedef struct { int item; int64_t low, defer; } kept;
typedef struct { int64_t from, to; kept *kept; int n; bool open, set; } label;

/* One run; everything lives until exit. */
static item *items;
static int n_items;
static int64_t *low, *defer, *gone; /* gone: placed, or outside of the part a "keep" is about */
static int64_t capacity;
static change *trail;
static size_t n_trail, cap_trail;
static label *labels;
static int64_t n_labels;
static const char *text;
static long line_no;

static void quit(int status, const char *why, ...)
{
    va_list ap;
    va_start(ap, why);
    printf(status == 1 ? "REFUSED line %ld: " : "error: line %ld: ", line_no);
    vprintf(why, ap);
    putchar('\n');
    va_end(ap);
    exit(status);
}

static void *room(void *old, size_t n, size_t size)
{
    void *p = n > SIZE_MAX / 2 / size ? NULL : realloc(old, n * size + 1);
    if (!p)
        quit(2, "out of memory");
    return p;
}

static void set(int64_t *at, int64_t v)
{
    if (n_trail == cap_trail)
        trail = room(trail, cap_trail = 2 * cap_trail + 1024, sizeof *trail);
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

/* ------------------------------------------------------------------ the problem */

static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t n = 0, cap = 1 << 16;
    char *s = room(NULL, cap, 1);
    if (!f)
        quit(2, "cannot open %s", path);
    for (size_t got; (got = fread(s + n, 1, cap - n, f)) > 0;)
        if ((n += got) == cap)
            s = room(s, cap *= 2, 1);
    s[n] = 0;
    fclose(f);
    return s;
}

/* Cuts the next field off *s. A quoted field keeps no quotes. Returns the character behind it: ',' '\n' or 0. */
static char next_field(char **s, char **field)
{
    char *p = *s, *out = *s, end;
    bool quoted = *p == '"';
    *field = out;
    p += quoted;
    for (; *p && (quoted || (*p != ',' && *p != '\n')); p++) {
        if (quoted && *p == '"') {
            if (p[1] != '"') {
                quoted = false;
                continue;
            }
            p++;
        }
        if (*p != '\r')
            *out++ = *p;
    }
    end = *p;
    *s = p + (end != 0);
    *out = 0;
    return end;
}

static int64_t number(const char *s, const char **rest)
{
    char *end;
    long long v = strtoll(s, &end, 10);
    if (end == s || v >= MAX_VALUE || v <= -MAX_VALUE)
        quit(2, "'%s' is no usable number", s);
    if (rest)
        *rest = end;
    else if (*end && *end != ' ')
        quit(2, "'%s' is no number", s);
    return v;
}

static void add_piece(item *it, int64_t begin, int64_t end)
{
    if (begin >= end || !it->size)
        return;
    it->piece = room(it->piece, (size_t)it->n_pieces + 1, sizeof *it->piece);
    it->piece[it->n_pieces++] = (piece){begin, end};
}

static int by_begin(const void *a, const void *b)
{
    const piece *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

/* The life [begin, end) without its gaps "a-b a-b ...". */
static void cut_gaps(item *it, int64_t begin, int64_t end, const char *gaps, int64_t inclusive)
{
    piece gap[MAX_PIECES];
    int n = 0;
    for (const char *s = gaps; *s;) {
        piece g;
        g.begin = number(s, &s);
        g.end = number(s + (*s == '-'), &s) + inclusive;
        if (*s == '@' || n == MAX_PIECES)
            quit(2, "windows and more than %d gaps are not for certificates", MAX_PIECES);
        gap[n++] = g;
        while (*s == ' ')
            s++;
    }
    qsort(gap, (size_t)n, sizeof *gap, by_begin);
    for (int g = 0; g < n; g++) {
        if (gap[g].begin < begin || gap[g].end < gap[g].begin)
            quit(2, "gaps overlap or lie outside the life");
        add_piece(it, begin, gap[g].begin);
        begin = gap[g].end;
    }
    if (begin > end)
        quit(2, "a gap ends after the life");
    add_piece(it, begin, end);
}

enum { LOWER, UPPER, SIZE, ALIGN, GAPS, OFFSET, END, N_COLUMNS };

static int column_of(const char *name)
{
    static const struct { const char *name; int column; } NAMES[] = {
        {"lower", LOWER}, {"begin", LOWER}, {"start", LOWER}, {"upper", UPPER},  {"end", END},
        {"size", SIZE},   {"gaps", GAPS},   {"offset", OFFSET}, {"alignment", ALIGN}};
    for (size_t k = 0; k < sizeof NAMES / sizeof *NAMES; k++)
        if (!strcmp(NAMES[k].name, name))
            return NAMES[k].column;
    return -1;
}

static void read_item(char *const *field)
{
    items = room(items, (size_t)n_items + 1, sizeof *items);
    item *it = &items[n_items++];
    int64_t inclusive = field[END] != NULL;
    const char *upper = field[END] ? field[END] : field[UPPER];
    if (!field[LOWER] || !upper || !field[SIZE] || n_items > MAX_ITEMS)
        quit(2, "lower, upper or size is missing, or there are more than %d items", MAX_ITEMS);
    *it = (item){.size = number(field[SIZE], NULL), .align = 1, .fixed = -1};
    if (field[ALIGN] && *field[ALIGN])
        it->align = number(field[ALIGN], NULL);
    if (field[OFFSET] && *field[OFFSET])
        it->fixed = number(field[OFFSET], NULL);
    it->fixed = it->fixed < 0 ? -1 : it->fixed;
    if (it->size < 0 || it->align < 1 || (it->fixed > 0 && it->fixed % it->align))
        quit(2, "a bad size, alignment or fixed offset");
    cut_gaps(it, number(field[LOWER], NULL), number(upper, NULL) + inclusive, field[GAPS] ? field[GAPS] : "", inclusive);
}

static void read_problem(char *s)
{
    int column[64], n_columns = 0;
    char *field, *row[N_COLUMNS], end;
    if (!strncmp(s, "\xef\xbb\xbf", 3))
        s += 3;
    do {
        end = next_field(&s, &field);
        if (n_columns == 64)
            quit(2, "too many columns");
        column[n_columns++] = column_of(field);
    } while (end == ',');
    while (*s) {
        bool blank = true;
        int k = 0;
        memset(row, 0, sizeof row);
        do {
            end = next_field(&s, &field);
            blank = blank && !*field && end != ',';
            if (k < n_columns && column[k] >= 0)
                row[column[k]] = field;
            k++;
        } while (end == ',');
        line_no++;
        if (!blank)
            read_item(row);
    }
}

static bool conflict(const item *a, const item *b)
{
    for (int i = 0; i < a->n_pieces; i++)
        for (int k = 0; k < b->n_pieces; k++)
            if (a->piece[i].begin < b->piece[k].end && b->piece[k].begin < a->piece[i].end)
                return true;
    return false;
}

static int64_t align_up(int64_t v, int64_t to) { return (v + to - 1) / to * to; }

/* Neighbours, and sizes rounded up to the common divisor of all alignments: where the next item above can start. */
static void prepare(void)
{
    int64_t unit = 0;
    for (int i = 0; i < n_items; i++)
        for (int64_t b = items[i].n_pieces ? items[i].align : 0, c; b; b = c) {
            c = unit % b;
            unit = b;
        }
    low = room(NULL, (size_t)n_items, sizeof *low);
    defer = room(NULL, (size_t)n_items, sizeof *defer);
    gone = room(NULL, (size_t)n_items, sizeof *gone);
    for (int i = 0; i < n_items; i++) {
        item *it = &items[i];
        it->neighbour = room(NULL, (size_t)n_items, sizeof *it->neighbour);
        for (int j = 0; j < n_items; j++)
            if (j != i && conflict(it, &items[j]))
                it->neighbour[it->n_neighbours++] = j;
        it->padded = unit ? align_up(it->size, unit) : it->size;
        low[i] = it->fixed < 0 ? 0 : it->fixed;
        defer[i] = -1;
        gone[i] = !it->n_pieces;
    }
}

/* ------------------------------------------------------------------ the lines of a certificate */

static bool word(const char *w) /* takes w off the line if it comes next */
{
    size_t n = strlen(w);
    if (strncmp(text, w, n) || (text[n] != ' ' && text[n] != '\n'))
        return false;
    text += n;
    return true;
}

static bool more(void) { return *text == ' '; }

static int64_t argument(void)
{
    char *end;
    if (*text++ != ' ' || ((*text < '0' || *text > '9') && *text != '-'))
        quit(1, "a number is missing");
    long long v = strtoll(text, &end, 10);
    text = end;
    return v;
}

static int item_argument(void)
{
    int64_t i = argument();
    if (i < 0 || i >= n_items || gone[i])
        quit(1, "item %lld is not there, or placed, or not in this part", (long long)i);
    return (int)i;
}

static void end_line(void)
{
    if (*text != '\n')
        quit(1, "the line does not end here");
    text++;
    line_no++;
}

static bool alive(int i, int64_t step)
{
    for (int k = 0; !gone[i] && k < items[i].n_pieces; k++)
        if (items[i].piece[k].begin <= step && step < items[i].piece[k].end)
            return true;
    return false;
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
    if (!n || top - pad <= capacity)
        quit(1, "the items alive in step %lld fit", (long long)step);
}

/* The least top of a neighbour that can still block deferred item i; INT64_MAX: nobody can. */
static int64_t least_blocker(int i)
{
    int64_t least = INT64_MAX;
    if (defer[i] < 0)
        quit(1, "item %d is not deferred", i);
    for (int k = 0; k < items[i].n_neighbours; k++) {
        int j = items[i].neighbour[k];
        if (!gone[j] && low[j] < defer[i] + items[i].size && low[j] + items[j].size < least)
            least = low[j] + items[j].size;
    }
    return least;
}

static void do_lift(int i)
{
    int64_t least = least_blocker(i);
    if (least == INT64_MAX)
        quit(1, "item %d has no blocker: write free", i);
    if (align_up(least, items[i].align) > low[i])
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

/* ------------------------------------------------------------------ parts that are used again */

static int64_t hull_begin(int i) { return items[i].piece[0].begin; }
static int64_t hull_end(int i) { return items[i].piece[items[i].n_pieces - 1].end; }
static bool in_part(int i, int64_t from, int64_t to) { return !gone[i] && hull_begin(i) <= to && from < hull_end(i); }

/* The items of steps from..to must have nothing to do with the others: then their failure is everyone's. */
static int check_part(int64_t from, int64_t to)
{
    int64_t begin = INT64_MAX, end = INT64_MIN;
    int n = 0;
    for (int i = 0; i < n_items; i++)
        if (in_part(i, from, to)) {
            n++;
            begin = hull_begin(i) < begin ? hull_begin(i) : begin;
            end = hull_end(i) > end ? hull_end(i) : end;
        }
    for (int i = 0; i < n_items; i++)
        if (!gone[i] && !in_part(i, from, to) && hull_begin(i) < end && begin < hull_end(i))
            quit(1, "item %d crosses the edge of the part", i);
    return n;
}

static label *open_label(void)
{
    int64_t k = argument();
    if (k != n_labels + 1)
        quit(1, "label %lld, expected %lld", (long long)k, (long long)n_labels + 1);
    if (!(n_labels & (n_labels + 1)))
        labels = room(labels, 2 * (size_t)n_labels + 2, sizeof *labels);
    label *l = &labels[n_labels++];
    l->from = argument();
    l->to = argument();
    l->open = true;
    l->n = 0;
    l->kept = room(NULL, (size_t)check_part(l->from, l->to), sizeof *l->kept);
    for (int i = 0; i < n_items; i++)
        if (in_part(i, l->from, l->to))
            l->kept[l->n++] = (kept){i, low[i], defer[i]};
        else if (!gone[i])
            set(&gone[i], 1);
    return l;
}

static void check_same(void)
{
    int64_t k = argument();
    if (k < 1 || k > n_labels || labels[k - 1].open)
        quit(1, "part %lld is not proven yet", (long long)k);
    const label *l = &labels[k - 1];
    if (check_part(l->from, l->to) != l->n)
        quit(1, "part %lld has other items", (long long)k);
    for (int m = 0; m < l->n; m++) {
        const kept *x = &l->kept[m];
        if (gone[x->item] || low[x->item] != x->low || defer[x->item] != x->defer)
            quit(1, "item %d differs from part %lld", x->item, (long long)k);
    }
}

/* ------------------------------------------------------------------ branches */

static bool equal_items(const item *a, const item *b)
{
    return a->size == b->size && a->align == b->align && a->fixed < 0 && b->fixed < 0 && a->n_pieces == b->n_pieces &&
           !memcmp(a->piece, b->piece, (size_t)a->n_pieces * sizeof *a->piece);
}

static void prove(int depth);

/* The candidates of a step: who could start at its floor. Nothing may get below them. Returns how many. */
static int candidates_of(int64_t step, int *list)
{
    int n = 0;
    int64_t floor = INT64_MAX;
    for (int i = 0; i < n_items; i++)
        if (alive(i, step) && low[i] < floor)
            floor = low[i];
    for (int i = 0; i < n_items; i++) {
        if (!alive(i, step) || low[i] != floor || defer[i] >= 0)
            continue;
        list[n++] = i;
        for (int k = 0; k < items[i].n_neighbours; k++) {
            int j = items[i].neighbour[k];
            if (!gone[j] && low[j] + items[j].size <= floor)
                quit(1, "item %d could still go below item %d", j, i);
        }
    }
    return n;
}

static void prove_node(int depth)
{
    static int list[MAX_ITEMS];
    int64_t step = argument(), n_children = argument();
    end_line();
    int n = candidates_of(step, list);
    int *mine = room(NULL, (size_t)n, sizeof *mine);
    bool *tried = room(NULL, (size_t)n, sizeof *tried);
    if (n)
        memcpy(mine, list, (size_t)n * sizeof *mine);
    memset(tried, 0, (size_t)n);
    bool none = false;
    for (int64_t c = 0; c < n_children; c++) {
        size_t mark = n_trail;
        if (word("none")) {
            none = true;
            for (int k = 0; k < n; k++)
                set(&defer[mine[k]], low[mine[k]]);
        } else if (word("try")) {
            int i = item_argument(), k = 0;
            while (k < n && mine[k] != i)
                k++;
            if (k == n)
                quit(1, "item %d cannot start at the floor of step %lld", i, (long long)step);
            tried[k] = true;
            do_place(i);
        } else {
            quit(1, "expected try or none");
        }
        end_line();
        prove(depth + 1);
        undo(mark);
    }
    if (!none)
        quit(1, "the branch with none of the candidates is missing");
    for (int k = 0; k < n; k++) { /* candidates that are equal and equally placed stand for each other */
        bool covered = tried[k];
        for (int m = 0; m < n && !covered; m++)
            covered = tried[m] && equal_items(&items[mine[m]], &items[mine[k]]);
        if (!covered)
            quit(1, "item %d could start at the floor of step %lld and is not tried", mine[k], (long long)step);
    }
    free(mine);
    free(tried);
}

/* One proof that the present state has no plan. Returns if it holds; the caller takes back what it changed. */
static void prove(int depth)
{
    if (depth > MAX_DEPTH)
        quit(1, "deeper than %d levels", MAX_DEPTH);
    for (;;) {
        if (word("lift")) {
            while (more())
                do_lift(item_argument());
            end_line();
        } else if (word("keep")) {
            int64_t k = n_labels;
            open_label();
            end_line();
            prove(depth + 1);
            labels[k].open = false;
            return;
        } else if (word("node")) {
            prove_node(depth);
            return;
        } else {
            break;
        }
    }
    if (word("over")) {
        check_over(argument());
    } else if (word("same")) {
        check_same();
    } else if (word("free")) {
        int i = item_argument();
        if (least_blocker(i) != INT64_MAX)
            quit(1, "item %d can still be blocked", i);
    } else if (word("fixed")) {
        int i = item_argument();
        if (items[i].fixed < 0 || (low[i] <= items[i].fixed && defer[i] < 0))
            quit(1, "item %d can keep its offset", i);
    } else {
        quit(1, "no such line");
    }
    end_line();
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: arenac-certcheck PROBLEM.csv CERTIFICATE\n");
        return 2;
    }
    read_problem(read_file(argv[1]));
    prepare();
    text = read_file(argv[2]);
    line_no = 1;
    if (!word("arenac-certificate") || argument() != 1)
        quit(2, "not a certificate of version 1");
    end_line();
    if (!word("items") || argument() != n_items)
        quit(1, "the problem has %d items", n_items);
    end_line();
    if (!word("capacity"))
        quit(1, "expected the capacity");
    capacity = argument();
    end_line();
    prove(0);
    if (!word("end"))
        quit(1, "expected end");
    end_line();
    if (*text)
        quit(1, "text after the end");
    printf("VALID no plan of %lld bytes or fewer\n", (long long)capacity);
    return 0;
}
