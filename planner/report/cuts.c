/* cuts.c - what --dead took out of a model, operator by operator: for the text, Markdown and JSON. */
#include "planner/report/cuts.h"

static ac_report_cut total_of(const ac_report_cuts *c)
{
    ac_report_cut all = {.name = "in all", .op = ""};
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

static const char *of(ac_ctx *cx, int64_t gone, int64_t whole)
{
    return ac_strf(cx->region, "%s of %s", ac_commas(cx, gone), ac_commas(cx, whole));
}

void ac_report_cuts_text(ac_sink *to, const ac_report_cuts *c)
{
    if (!ac_report_cuts_any(c))
        return;
    ac_put(to, "\n  dead channels                of results         of inputs   multiply-adds     weights B   node\n");
    for (int32_t k = 0; k < c->n; k++) {
        const ac_report_cut *x = &c->row[k];
        if (lost(x))
            ac_putf(to, "  %-20s %18s %17s %15s %13s   %s\n", x->op, of(to->cx, x->gone, x->channels),
                    of(to->cx, x->inputs_gone, x->inputs), ac_commas(to->cx, x->macs_gone),
                    ac_commas(to->cx, x->bytes_gone), x->name);
    }
}

void ac_report_cuts_md(ac_sink *to, const ac_report_cuts *c, void (*put_name)(ac_sink *to, const char *name))
{
    if (!ac_report_cuts_any(c))
        return;
    ac_put(to, "\n| dead channels | operator | of results | of inputs | multiply-adds | bytes of weights |\n"
               "|---|---|---:|---:|---:|---:|\n");
    for (int32_t k = 0; k < c->n; k++) {
        const ac_report_cut *x = &c->row[k];
        if (!lost(x))
            continue;
        ac_put(to, "| ");
        put_name(to, x->name);
        ac_putf(to, " | %s | %s | %s | %s | %s |\n", x->op, of(to->cx, x->gone, x->channels),
                of(to->cx, x->inputs_gone, x->inputs), ac_commas(to->cx, x->macs_gone),
                ac_commas(to->cx, x->bytes_gone));
    }
}

static void put_numbers(ac_json *j, const ac_report_cut *x)
{
    ac_json_int(j, "channels", x->channels);
    ac_json_int(j, "channels_removed", x->gone);
    ac_json_int(j, "macs", x->macs);
    ac_json_int(j, "macs_removed", x->macs_gone);
    ac_json_int(j, "weight_bytes", x->bytes);
    ac_json_int(j, "weight_bytes_removed", x->bytes_gone);
}

void ac_report_cuts_json(ac_json *j, const ac_report_cuts *c)
{
    const ac_report_cut all = total_of(c);
    ac_json_obj(j, "dead_channels");
    put_numbers(j, &all);
    ac_json_arr(j, "operators");
    for (int32_t k = 0; k < c->n; k++) {
        const ac_report_cut *x = &c->row[k];
        if (!lost(x))
            continue;
        ac_json_obj(j, NULL);
        ac_json_str(j, "name", x->name);
        ac_json_str(j, "op", x->op);
        ac_json_int(j, "input_channels", x->inputs);
        ac_json_int(j, "input_channels_removed", x->inputs_gone);
        put_numbers(j, x);
        ac_json_end(j);
    }
    ac_json_end(j);
    ac_json_end(j);
}
