/* fetch.c - decodes the instruction at an address once, and writes down errors and findings; see walk.h. */
#include "timing/walk.h"

int ac_walk_error(ac_walk *w, uint32_t at, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *text = ac_vstrf(w->cx->region, fmt, ap);
    va_end(ap);
    return ac_error(w->cx, (ac_place){.file = w->task->path}, E0704, "%s, at 0x%x in %s", text, at,
                    ac_elf_name_at(&w->elf, at));
}

void ac_walk_found(ac_walk *w, ac_finding_kind kind, uint32_t at, int64_t insns, int64_t cycles)
{
    ac_timing *t = w->out;
    int32_t i = 0;
    while (i < t->finding.n && (t->finding.item[i].at != at || t->finding.item[i].kind != kind))
        i++;
    if (i == t->finding.n) {
        const ac_insn *in = ac_walk_decode(w, at);
        ac_push(w->cx->region, &t->finding,
                ((ac_timing_finding){.kind = kind,
                                     .at = at,
                                     .function = ac_elf_name_at(&w->elf, at),
                                     .step = ac_elf_name_at(&w->elf, w->s.depth > 1 ? w->step : at),
                                     .insn = ac_op_name[in->op]}));
    }
    t->finding.item[i].times++;
    t->finding.item[i].insns += insns;
    t->finding.item[i].cycles += cycles;
}

/* ------------------------------------------------------------------ fetching */

enum { NOT_ASKED, NO_INSTRUCTION, FIRST };

const ac_insn *ac_walk_decode(ac_walk *w, uint32_t pc)
{
    ac_mem_block *b = w->code;
    if (!b || pc - b->at >= b->bytes) {
        b = ac_mem_find(&w->mem, pc, 2);
        if (!b || !b->code)
            return NULL;
        w->code = b;
    }
    if (pc & 1)
        return NULL;
    uint32_t *known = &b->decoded[(pc - b->at) >> 1];
    if (*known == NOT_ASKED) {
        const size_t n = b->bytes - (pc - b->at);
        ac_insn in;
        const bool good = (w->elf.riscv ? ac_decode_riscv : ac_decode_thumb)(pc, b->data + (pc - b->at), n, &in);
        *known = good ? (uint32_t)w->insn.n + FIRST : NO_INSTRUCTION;
        if (good)
            ac_push(w->cx->region, &w->insn, in);
    }
    return *known == NO_INSTRUCTION ? NULL : &w->insn.item[*known - FIRST];
}

const ac_insn *ac_walk_fetch(ac_walk *w, uint32_t pc)
{
    const ac_insn *in = ac_walk_decode(w, pc);
    uint32_t value = 0, unknown;
    if (in)
        return in;
    if (!ac_mem_load(&w->mem, pc, 4, &value, &unknown) && !ac_mem_load(&w->mem, pc, 2, &value, &unknown))
        ac_walk_error(w, pc, "the program leaves its code");
    else
        ac_walk_error(w, pc, "unknown instruction 0x%04x %04x", value & 0xffff, value >> 16);
    return NULL;
}
