/* threads.c - the schedule of a model for several threads: a line of the report, an object of the JSON, and a Gantt
 * chart below the picture of the arena. Times are estimates, in instructions; a chart of them is drawn in parts of the
 * whole. */
#include "planner/report/threads.h"

#include <string.h>

/* Phase that begins with step s: when its barrier is reached, if it begins at 0. busy: by thread, room for all. */
static double phase_time(const ac_report_threads *t, ac_step s, double *busy)
{
    const ac_step end = ac_report_phase_end(t, s);
    double most = 0;
    bool forks = end - s > 1;
    for (int32_t k = 0; k < t->threads; k++)
        busy[k] = 0;
    for (ac_step i = s; i < end; i++) {
        const int32_t on = ac_report_thread_of(t, i);
        forks |= on == AC_ALL_THREADS;
        for (int32_t k = 0; k < t->threads; k++)
            if (on == AC_ALL_THREADS || on == k)
                busy[k] += t->time[i];
    }
    for (int32_t k = 0; k < t->threads; k++)
        most = busy[k] > most ? busy[k] : most;
    return most + (forks ? t->fork : 0);
}

static void count(const ac_report *r, int32_t *phases, int32_t *shared, int32_t *steps)
{
    *phases = *shared = *steps = 0;
    for (ac_step s = 0; s < r->n_steps; s = ac_report_phase_end(r->threads, s)) {
        const int32_t n = ac_report_phase_end(r->threads, s) - s;
        *phases += 1;
        *shared += n > 1;
        *steps += n > 1 ? n : 0;
    }
}

void ac_report_threads_text(ac_sink *to, const ac_report *r)
{
    const ac_report_threads *t = r->threads;
    int32_t phases, shared, steps;
    if (!t)
        return;
    count(r, &phases, &shared, &steps);
    ac_putf(to, "\n  Threads: %d, estimated %.2f times as fast as one", t->threads, t->gain);
    if (shared)
        ac_putf(to,
                " (%.2f one step after the other)\n        %d steps in %d phases, %d of them with %d steps that run at "
                "once\n",
                t->gain_before, r->n_steps, phases, shared, steps);
    else
        ac_put(to, "; no steps run at once\n");
    if (t->n_more)
        ac_put(to, "        More threads, by the same estimate:");
    for (int32_t k = 0; k < t->n_more; k++)
        ac_putf(to, "%s %d: %.1f", k ? "," : "", t->more[k].threads, t->more[k].gain);
    ac_put(to, t->n_more ? "\n" : "");
}

void ac_report_threads_json(ac_json *j, const ac_report *r)
{
    const ac_report_threads *t = r->threads;
    if (!t)
        return;
    ac_json_obj(j, "threads");
    ac_json_int(j, "threads", t->threads);
    ac_json_num(j, "estimated_gain", t->gain);
    ac_json_num(j, "estimated_gain_step_by_step", t->gain_before);
    ac_json_arr(j, "phases");
    for (ac_step s = 0; s < r->n_steps; s = ac_report_phase_end(t, s)) {
        ac_json_obj(j, NULL);
        ac_json_int(j, "first_step", s);
        ac_json_int(j, "last_step", ac_report_phase_end(t, s) - 1);
        ac_json_arr(j, "threads"); /* by step; -1: all, a chunk each */
        for (ac_step i = s; i < ac_report_phase_end(t, s); i++)
            ac_json_int(j, NULL, ac_report_thread_of(t, i));
        ac_json_end(j);
        ac_json_end(j);
    }
    ac_json_end(j);
    ac_json_arr(j, "simulated");
    for (int32_t k = 0; k < t->n_more; k++) {
        ac_json_obj(j, NULL);
        ac_json_int(j, "threads", t->more[k].threads);
        ac_json_num(j, "estimated_gain", t->more[k].gain);
        ac_json_end(j);
    }
    ac_json_end(j);
    ac_json_end(j);
}

/* ------------------------------------------------------------------ the chart */

enum { ROW = 14, HEAD = 22, FOOT = 8, MOST_ROWS = 16 };

static int32_t rows_of(const ac_report_threads *t)
{
    return t->threads < MOST_ROWS ? t->threads : MOST_ROWS;
}

double ac_report_threads_height(const ac_report *r)
{
    return r->threads ? HEAD + ROW * rows_of(r->threads) + FOOT : 0;
}

static void put_bar(ac_sink *to, const ac_picture *pic, ac_step s, double x, double y, double w)
{
    ac_putf(to, "<g class=\"t act%s\"><title>%d ", s % 2 ? " b" : "", s);
    ac_put_xml_text(to, pic->r->step[s].op);
    ac_put(to, " '");
    ac_put_xml_text(to, pic->r->step[s].name);
    ac_putf(to, "'</title><rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"%d\"/>", x, y, w, ROW - 3);
    if (w > 8 * (s < 10 ? 1 : s < 100 ? 2 : s < 1000 ? 3 : 4))
        ac_putf(to, "<text x=\"%.1f\" y=\"%.0f\">%d</text>", x + 2, y + 9, s);
    ac_put(to, "</g>\n");
}

void ac_report_threads_svg(ac_sink *to, const ac_picture *pic, double y)
{
    const ac_report_threads *t = pic->r->threads;
    const int32_t rows = t ? rows_of(t) : 0;
    double all = 0, at = 0;
    if (!t)
        return;
    double *busy = AC_NEW_N(to->cx->region, double, t->threads);
    for (ac_step s = 0; s < pic->r->n_steps; s = ac_report_phase_end(t, s))
        all += phase_time(t, s, busy);
    const double scale = all > 0 ? pic->w / all : 0;
    ac_putf(to,
            "<g id=\"threads\"><text class=\"s\" x=\"%.0f\" y=\"%.0f\">threads, estimated time; lines are "
            "barriers</text>\n",
            pic->x, y + HEAD - 8);
    for (int32_t k = 0; k < rows; k++)
        ac_putf(to, "<text class=\"s\" text-anchor=\"end\" x=\"%.0f\" y=\"%.0f\">%d</text>\n", pic->x - 7,
                y + HEAD + ROW * k + 9, k);
    for (ac_step s = 0; s < pic->r->n_steps; s = ac_report_phase_end(t, s)) {
        const double length = phase_time(t, s, busy);
        for (int32_t k = 0; k < rows; k++) {
            double x = pic->x + at * scale;
            for (ac_step i = s; i < ac_report_phase_end(t, s); i++) {
                const int32_t on = ac_report_thread_of(t, i);
                if (on != AC_ALL_THREADS && on != k)
                    continue;
                put_bar(to, pic, i, x, y + HEAD + ROW * k, t->time[i] * scale);
                x += t->time[i] * scale;
            }
        }
        at += length;
        ac_putf(to, "<path class=\"grid\" d=\"M%.1f %.0fv%d\"/>\n", pic->x + at * scale, y + HEAD - 2, ROW * rows);
    }
    ac_put(to, "</g>\n");
}
