/* texts_main.c - the codes of a header that has texts, in C99 and C++; argv[1] is few or many (texts_model.py). */
#include "m.h"

#include <stdio.h>
#include <string.h>

static union {
    uint8_t byte[M_ARENA_BYTES + M_ARENA_ALIGN];
    double aligned;
} block;

static int failed(int line)
{
    printf("line %d fails\n", line);
    return 1;
}

#define CHECK(x)                     \
    do {                             \
        if (!(x))                    \
            return failed(__LINE__); \
    } while (0)

static int run(const char *color, float w, const char *label, int64_t number, const char *name, int is_red)
{
    m_mem m;
    uint8_t *at = block.byte;
    while ((uintptr_t)at % M_ARENA_ALIGN)
        at++;
    memset(&m, 0, sizeof m);
    m.arena = at;
    CHECK(m_init(&m) == M_OK);
    m_in0(&m)[0] = m_in0_code(color);
    m_in0(&m)[1] = m_in0_code("red");
    m_in1(&m)[0] = w;
    m_in1(&m)[1] = 0;
    CHECK(m_run(&m) == M_OK);
    CHECK(!strcmp(m_out0_text(m_out0(&m)[0]), label));
    CHECK(m_out2(&m)[0] == number);
    CHECK(!strcmp(m_out3_text(m_out3(&m)[0]), name));
    CHECK(m_out4(&m)[0] == is_red && m_out4(&m)[1] == 1);
    return 0;
}

int main(int argc, char **argv)
{
    const int many = argc > 1 && !strcmp(argv[1], "many");
    char word[16], longest[5000];
    int32_t i;
    CHECK(M_TEXTS == (many ? 10009 : 9));
    for (i = 0; i < M_TEXTS; i++)
        CHECK(m_text_code(m_text_at(i)) == i && (!i || strcmp(m_text_at(i - 1), m_text_at(i)) < 0));
    for (i = 0; i < 10000; i += 7) {
        sprintf(word, "w%d", (int)i);
        CHECK((m_in0_code(word) < M_TEXTS) == many);
    }
    memset(longest, 'r', sizeof longest);
    longest[sizeof longest - 1] = 0;
    CHECK(m_in0_code(longest) == M_TEXTS && m_in0_code("re") == M_TEXTS && m_in0_code("redd") == M_TEXTS);
    CHECK(m_in0_code("\xff\xfe") == M_TEXTS && m_in0_code(NULL) == M_TEXTS);
    CHECK(!m_out0_text(M_TEXTS) && !m_out0_text(-1) && !*m_out3_text(m_in0_code("")));
    if (run("red", 1, "no", 10, "ten", 1) || run("\303\251t\303\251", -1, "yes", 20, "twenty", 0) ||
        run("", 3, "\303\251t\303\251", 30, "many", 0) || run("a \"b\" \\ ?\?/ \n%s*/", -1, "yes", 40, "many", 0) ||
        run("pink", 0, "no", -7, "many", 0))
        return 1;
    return many ? run("w77", 0, "no", 77, "many", 0) : 0;
}
