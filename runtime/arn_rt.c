/* arn_rt.c - linked by every program: version, guards around memories, messages. */
#include "arn_rt.h"

static int same_name(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

const char *arn_version(void)
{
    return ARN_VERSION;
}

static int find(const struct arn_tensor *t, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (same_name(t[i].name, name))
            return i;
    return -1;
}

int arn_find_input(const struct arn_model *m, const char *name)
{
    return find(m->input, m->n_inputs, name);
}

int arn_find_output(const struct arn_model *m, const char *name)
{
    return find(m->output, m->n_outputs, name);
}

int arn_find_step(const struct arn_model *m, const char *name)
{
    for (int32_t i = 0; i < m->n_steps; i++)
        if (same_name(m->step[i].name, name))
            return i;
    return -1;
}

const void *arn_tensor_at(const struct arn_tensor *t, const struct arn_mem *m)
{
    const void *base = t->space == ARN_IN_ARENA ? m->arena : t->space == ARN_IN_STATE ? m->state : m->weights;
    if (t->data)
        return t->data;
    return base ? (const uint8_t *)base + t->offset : NULL;
}

/* No two neighbours alike, and never 0. */
static uint8_t guard_byte(uint64_t i)
{
    return (uint8_t)(0xa5u ^ (i * 29u & 0x5au));
}

void *arn_guard_fill(void *block, uint64_t arena_bytes)
{
    uint8_t *p = block;
    for (uint64_t i = 0; i < ARN_GUARD_BYTES; i++)
        p[i] = p[ARN_GUARD_BYTES + arena_bytes + i] = guard_byte(i);
    return p + ARN_GUARD_BYTES;
}

int64_t arn_guard_check(const void *block, uint64_t arena_bytes)
{
    const uint8_t *p = block;
    for (uint64_t i = ARN_GUARD_BYTES; i > 0; i--)
        if (p[i - 1] != guard_byte(i - 1))
            return -(int64_t)(ARN_GUARD_BYTES - (i - 1));
    for (uint64_t i = 0; i < ARN_GUARD_BYTES; i++)
        if (p[ARN_GUARD_BYTES + arena_bytes + i] != guard_byte(i))
            return (int64_t)(i + 1);
    return 0;
}
