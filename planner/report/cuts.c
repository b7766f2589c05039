/* cuts.c - prints the channels that --dead removed, by operator: text, Markdown and JSON. */
#include "planner/report/cuts.h"

static ac_report_cut total_of(const ac_report_cuts *c)
{
    ac_report_cut all = {0};
    for (int32_t k = 0; k < c->n; k++) {
        const ac_report_cut *x = &c->row[k];
        all.channels += x->channels;
        all.gone += x->gone;
        all.inputs += x->inputs;
        all.inputs_gone += x->inputs_gone;
        all.macs += x->macs;
        all.macs_gone += x->macs_gone;
        all.bytes += x->bytes;
        all.bytes_gone += x->bytes_gone;
    }
    return all;
}

static bool lost(const ac_report_cut *x)
{
    return x->gone || x->inputs_gone || x->macs_gone || x->bytes_gone;
}

const char *ac_report_cuts_note(ac_ctx *cx, const ac_report_cuts *c)
{
    const ac_report_cut all = total_of(c);
    if (!c->n)
        return "dead channels: no operator with weights is quantised";
    if (c->same)
        return "dead channels: no output depends on the inputs, whatever they are; so nothing is removed";
    if (!lost(&all))
        return ac_strf(cx->region, "dead channels: none of %s is constant or unused", ac_commas(cx, all.channels));
    return ac_strf(cx->region, "dead channels: %s of %s, with %s multiply-adds (%.1f %%) and %s B of weights (%.1f %%)",
                   ac_commas(cx, all.gone), ac_commas(cx, all.channels), ac_commas(cx, all.macs_gone),
                   ac_report_percent(all.macs_gone, all.macs), ac_commas(cx, all.bytes_gone),
                   ac_report_percent(all.bytes_gone, all.bytes));
}

bool ac_report_cuts_any(const ac_report_cuts *c)
{
    const ac_report_cut all = total_of(c);
    return lost(&all);
}

ac_section ac_report_cuts_section(ac_ctx *cx, const ac_report_cuts *c)
{
    ac_report_cut *row = AC_NEW_N(cx->region, ac_report_cut, c ? c->n : 0);
    int32_t n = 0;
    for (int32_t k = 0; c && k < c->n; k++)
        if (lost(&c->row[k]))
            row[n++] = c->row[k];
    return ac_section_cuts(cx, row, n);
}

void ac_report_cuts_json(ac_json *j, const ac_report_cuts *c)
{
    const ac_report_cut all = total_of(c);
    const ac_section total = ac_section_cuts(j->to->cx, &all, 1), s = ac_report_cuts_section(j->to->cx, c);
    ac_json_obj(j, "dead_channels");
    ac_section_members(j, &total, 0);
    ac_section_json(j, &s);
    ac_json_end(j);
}
