#include "generate.h"

static int most_likely(const float *logits)
{
    int best = 0;
    for (int i = 1; i < (int)LM_OUT0_COUNT; i++)
        best = logits[i] > logits[best] ? i : best;
    return best;
}

int generate(const lm_mem *m, int first, int count, void (*put)(int token))
{
    int token = first;
    int status = lm_init(m);
    for (int n = 0; n < count && !status; n++) {
        lm_in0(m)[0] = token; /* inputs may be overwritten: they are set before each run */
        lm_in1(m)[0] = n;     /* position_ids */
        lm_in2(m)[0] = n;     /* position: rows that the caches have */
        status = lm_run(m);
        token = most_likely(lm_out0(m));
        if (!status)
            put(token);
    }
    return status;
}
