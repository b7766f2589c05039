/* pack.c - the planner library at work: packs the intervals of a CSV file and prints them with their offsets.
 *
 *     cc pack.c $(pkg-config --cflags --libs arenac-planner) -o pack
 *     ./pack problem.csv [CAPACITY]
 *
 * Without a file it packs four buffers of a small pipeline into two memories. Ends with the library's status. */
#include <arenac_planner.h>

#include <stdio.h>
#include <stdlib.h>

static int report(const arenac_pack_problem *p, int status, arenac_packing *plan)
{
    fputs(plan->message, stderr);
    if (plan->offset) {
        printf("id,lower,upper,size,memory,offset\n");
        for (int32_t i = 0; i < p->n; i++)
            printf("%s,%d,%d,%lld,%d,%lld\n", p->item[i].name, p->item[i].begin, p->item[i].end,
                   (long long)p->item[i].size, plan->memory[i], (long long)plan->offset[i]);
        fprintf(stderr, "%lld bytes%s, lower bound %lld, found by %s\n", (long long)plan->bytes,
                plan->optimal ? ", optimal" : "", (long long)plan->lower_bound, plan->planner);
        arenac_packing again; /* a plan can come from anywhere: check it */
        if (arenac_pack_check(p, plan->offset, plan->memory, &again) == ARENAC_PACK_UNSAFE)
            status = ARENAC_PACK_UNSAFE;
        arenac_packing_free(&again);
    }
    arenac_packing_free(plan);
    return status;
}

static int pipeline(void)
{
    const arenac_pack_memory memory[] = {{"fast", 96 * 1024}, {"slow", -1}};
    const arenac_interval item[] = {
        {.name = "frame",
         .size = 64 * 1024,
         .align = 64,
         .begin = 0,
         .end = 2,
         .fixed = 0,
         .memory = 1,
         .traffic = 64 * 1024},
        {.name = "luma",
         .size = 32 * 1024,
         .align = 16,
         .begin = 1,
         .end = 3,
         .fixed = -1,
         .memory = -1,
         .traffic = 288 * 1024},
        {.name = "edges",
         .size = 32 * 1024,
         .align = 16,
         .begin = 2,
         .end = 4,
         .fixed = -1,
         .memory = -1,
         .traffic = 64 * 1024},
        {.name = "histogram",
         .size = 1024,
         .align = 4,
         .begin = 1,
         .end = 4,
         .fixed = -1,
         .memory = -1,
         .traffic = 128 * 1024},
    };
    const arenac_pack_problem problem = {.item = item, .n = 4, .memory = memory, .n_memories = 2};
    arenac_packing plan;
    const int status = arenac_pack(&problem, NULL, &plan);
    return report(&problem, status, &plan);
}

int main(int argc, char **argv)
{
    static char text[1 << 24], message[4096];
    arenac_pack_problem problem;
    arenac_packing plan;
    if (argc < 2)
        return pipeline();
    FILE *f = fopen(argv[1], "rb");
    if (!f) {
        perror(argv[1]);
        return 3;
    }
    const size_t n = fread(text, 1, sizeof text, f);
    fclose(f);
    int status = arenac_pack_read_csv(argv[1], text, n, &problem, message, sizeof message);
    if (status) {
        fputs(message, stderr);
        return status;
    }
    const arenac_pack_options options = {.capacity = argc > 2 ? atoll(argv[2]) : 0};
    status = report(&problem, arenac_pack(&problem, &options, &plan), &plan);
    arenac_pack_problem_free(&problem);
    return status;
}
