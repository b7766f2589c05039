/* steps.c - the program of compile --selftest-cc: runs the model's C, and before each step overwrites its operands with
 * inputs of its own, and bytes that hold no value with a pattern. The results of a step must have the evaluator's hash,
 * all other bytes must be as before, also those around each memory. Included by a file of tables, which
 * codegen/c/step_test.c prints. C99; the program prints its findings in lines, and ends with
 *
 *     0      all is equal
 *     100    "steps differ SET STEP OPERAND", then "steps value X" for each element of the operand, in hexadecimal,
 *            "steps wrote SET STEP MEMORY BEGIN END": it changed a byte of this range,
 *            "steps outside SET STEP MEMORY AFTER": AFTER bytes past the end; 0: before the memory,
 *            "steps order SET STEP EXPECTED": step EXPECTED should have run instead, or as well
 *     101    "steps stopped SET STATUS": a run ended with another status than the evaluator's
 *     102    "steps aligned MEMORY": init accepted an address that is not aligned */
enum { EQUAL = 0, DIFFERENT = 100, STOPPED = 101, ALIGNED = 102, SHOWN = 65536 };

static uint32_t set_number, next_step, found; /* found: a difference was printed */
static uint32_t sums[RANGES_OF_A_STEP];       /* of the ranges that the current step may not write */

/* ------------------------------------------------------------------ saying it */

static char *put_number(char *to, uint64_t x)
{
    char digit[16];
    int n = 0;
    do {
        digit[n++] = "0123456789abcdef"[x & 15u];
        x >>= 4;
    } while (x);
    while (n)
        *to++ = digit[--n];
    return to;
}

static void say(const char *what, const uint32_t *number, int n)
{
    char line[80], *to = line;
    while (*what)
        *to++ = *what++;
    while (n-- > 0) {
        *to++ = ' ';
        to = put_number(to, *number++);
    }
    *to++ = '\n';
    *to = '\0';
    STEPS_SAY(line);
}

static void say_values(const step_operand *o)
{
    const uint8_t *at = memories[o->memory].at + o->offset;
    for (uint32_t i = 0; i < o->count && i < SHOWN; i++) {
        char line[40] = "steps value ", *to = put_number(line + 12, step_get(at + (size_t)i * o->bytes, o->bytes));
        *to++ = '\n';
        *to = '\0';
        STEPS_SAY(line);
    }
}

/* ------------------------------------------------------------------ bytes that a step may not write */

static void poison_guards(void)
{
    for (uint32_t i = 0; i < MEMORIES; i++) {
        step_poison(memories[i].at - memories[i].guard, 0, memories[i].guard, set_number);
        step_poison(memories[i].at + memories[i].bytes, 0, memories[i].guard, set_number);
    }
}

static void check_guards(uint32_t step)
{
    for (uint32_t i = 0; i < MEMORIES && !found; i++) {
        const uint32_t n = memories[i].guard;
        const uint32_t past = step_changed(memories[i].at + memories[i].bytes, 0, n, set_number);
        const uint32_t number[] = {set_number, step, i, past < n ? past + 1 : 0};
        found = past < n || step_changed(memories[i].at - n, 0, n, set_number) < n;
        if (found)
            say("steps outside", number, 4);
    }
}

static void begin_ranges(uint32_t step)
{
    for (uint32_t i = first_range[step]; i < first_range[step + 1]; i++)
        if (ranges[i].use & STEP_DEAD)
            step_poison(memories[ranges[i].memory].at + ranges[i].begin, ranges[i].begin, ranges[i].end, step);
}

static uint32_t sum_of(const step_range *r)
{
    return step_sum(memories[r->memory].at + r->begin, r->end - r->begin);
}

static void sum_ranges(uint32_t step)
{
    for (uint32_t i = first_range[step]; i < first_range[step + 1]; i++)
        if (ranges[i].use & STEP_KEPT)
            sums[i - first_range[step]] = sum_of(&ranges[i]);
}

static void check_ranges(uint32_t step)
{
    for (uint32_t i = first_range[step]; i < first_range[step + 1] && !found; i++) {
        const step_range *r = &ranges[i];
        uint32_t number[] = {set_number, step, r->memory, r->begin, r->end};
        if (!(r->use & STEP_KEPT) || sum_of(r) == sums[i - first_range[step]])
            continue;
        found = 1;
        if (r->use & STEP_DEAD)
            number[3] += step_changed(memories[r->memory].at + r->begin, r->begin, r->end - r->begin, step);
        say("steps wrote", number, 5);
    }
}

/* ------------------------------------------------------------------ around each step */

static void check_order(uint32_t step)
{
    if (step != next_step && !found) {
        const uint32_t number[] = {set_number, step, next_step};
        found = 1;
        say("steps order", number, 3);
    }
}

void step_begin(uint32_t step)
{
    const uint32_t kind = kinds[set_number][step];
    check_order(step);
    begin_ranges(step);
    for (uint32_t i = first_operand[step]; kind && i < first_operand[step + 1]; i++)
        if (operands[i].use & STEP_READ)
            step_fill(memories[operands[i].memory].at + operands[i].offset, &operands[i], kind,
                      step_seed(set_number, i - first_operand[step]));
    sum_ranges(step);
}

static void check_results(uint32_t step)
{
    for (uint32_t i = first_operand[step]; i < first_operand[step + 1] && !found; i++)
        if ((operands[i].use & STEP_WRITTEN) &&
            step_hash(memories[operands[i].memory].at + operands[i].offset, &operands[i]) != hashes[set_number][i]) {
            const uint32_t number[] = {set_number, step, i - first_operand[step]};
            found = 1;
            say("steps differ", number, 3);
            say_values(&operands[i]);
        }
}

void step_end(uint32_t step)
{
    check_order(step);
    next_step = step + 1;
    if (kinds[set_number][step] || set_number < WHOLE)
        check_results(step);
    check_guards(step);
    check_ranges(step);
}

int main(void)
{
#ifdef REQUEST_AMX
    REQUEST_AMX();
#endif
    if (init_misaligned()) {
        const uint32_t number[] = {init_misaligned() - 1u};
        say("steps aligned", number, 1);
        return ALIGNED;
    }
    for (set_number = 0; set_number < SETS && !found; set_number++) {
        int status;
        next_step = 0;
        poison_guards();
        status = run_set(set_number % WHOLE);
        if (status != statuses[set_number] && !found) {
            const uint32_t number[] = {set_number, (uint32_t)status};
            say("steps stopped", number, 2);
            return STOPPED;
        }
        if (!status)
            check_order(STEPS);
    }
    return found ? DIFFERENT : EQUAL;
}
