/* steps.c - the program of compile --selftest-cc: runs the model's C, and before each step overwrites its operands with
 * inputs of its own. The results of a step must have the evaluator's hash. Included by a file of tables, which
 * codegen/c/step_test.c prints. C99; the program prints its findings in lines, and ends with
 *
 *     0      all is equal
 *     100    "steps differ SET STEP OPERAND", then "steps value X" for each element of the operand, in hexadecimal
 *     101    "steps stopped SET STATUS": a run ended with another status than the evaluator's */
enum { EQUAL = 0, DIFFERENT = 100, STOPPED = 101, SHOWN = 65536 };

static uint32_t set_number, found; /* found: a difference was printed */

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
    const uint8_t *at = memories[o->memory] + o->offset;
    for (uint32_t i = 0; i < o->count && i < SHOWN; i++) {
        char line[40] = "steps value ", *to = put_number(line + 12, step_get(at + (size_t)i * o->bytes, o->bytes));
        *to++ = '\n';
        *to = '\0';
        STEPS_SAY(line);
    }
}

/* ------------------------------------------------------------------ around each step */

void step_begin(uint32_t step)
{
    const uint32_t kind = kinds[set_number][step];
    for (uint32_t i = first_operand[step]; kind && i < first_operand[step + 1]; i++)
        if (operands[i].use & STEP_READ)
            step_fill(memories[operands[i].memory] + operands[i].offset, &operands[i], kind,
                      step_seed(set_number, i - first_operand[step]));
}

void step_end(uint32_t step)
{
    if (!kinds[set_number][step] && set_number >= WHOLE)
        return;
    for (uint32_t i = first_operand[step]; i < first_operand[step + 1] && !found; i++)
        if ((operands[i].use & STEP_WRITTEN) &&
            step_hash(memories[operands[i].memory] + operands[i].offset, &operands[i]) != hashes[set_number][i]) {
            const uint32_t number[] = {set_number, step, i - first_operand[step]};
            found = 1;
            say("steps differ", number, 3);
            say_values(&operands[i]);
        }
}

int main(void)
{
#ifdef REQUEST_AMX
    REQUEST_AMX();
#endif
    for (set_number = 0; set_number < SETS && !found; set_number++) {
        const int status = run_set(set_number % WHOLE);
        if (status != statuses[set_number] && !found) {
            const uint32_t number[] = {set_number, (uint32_t)status};
            say("steps stopped", number, 2);
            return STOPPED;
        }
    }
    return found ? DIFFERENT : EQUAL;
}
