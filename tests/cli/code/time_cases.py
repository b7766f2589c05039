"""Programs for tests/cli/code/time.sh: every instruction that timing/ decodes, on many operands.

    time_cases.py arm|riscv run >a.s         a program for qemu-user that writes the results to standard output
    time_cases.py arm|riscv check BIN >b.s   function t_run, which executes the same and compares with the results;
                                             where one differs it runs an undefined instruction
"""
import random
import struct
import sys

TRIES = 6  # for each instruction

SHIFTS = ["lsl #5", "lsr #7", "lsr #32", "asr #3", "asr #32", "ror #9", "rrx"]
THREE = "and orr eor bic orn add adc sub sbc rsb".split()
PARALLEL = [p + s for p in ("s", "q", "sh", "u", "uq", "uh") for s in ("add8", "add16", "asx", "sub8", "sub16", "sax")]
PRODUCTS = ("smulbb smulbt smultb smultt smulwb smulwt smuad smuadx smusd smusdx smmul smmulr mul usad8 sdiv udiv "
            "qadd qsub qdadd qdsub sel").split()
SUMS = ("mla mls smlabb smlabt smlatb smlatt smlawb smlawt smlad smladx smlsd smlsdx smmla smmlar smmls smmlsr "
        "usada8").split()
LONG = ("smull umull smlal umlal umaal smlalbb smlalbt smlaltb smlaltt smlald smlaldx smlsld smlsldx").split()
ONE = "clz rbit rev rev16 revsh sxtb sxth uxtb uxth sxtb16 uxtb16 mvn mov".split()
EXTENDS = "sxtab sxtah uxtab uxtah sxtab16 uxtab16".split()
CONDITIONS = "eq ne cs cc mi pl vs vc hi ls ge lt gt le".split()


# r0: result, r1: second result, r2 and r3: operands, r4: third operand, r5: 4; r6: a buffer of 64 bytes
ARM = """\
lsl r0, r2, r3
lsl r0, r2, #4
lsls r0, r2, r3
lsls r0, r2, #4
lsr r0, r2, r3
lsr r0, r2, #4
lsrs r0, r2, r3
lsrs r0, r2, #4
asr r0, r2, r3
asr r0, r2, #4
asrs r0, r2, r3
asrs r0, r2, #4
ror r0, r2, r3
ror r0, r2, #4
rors r0, r2, r3
rors r0, r2, #4
and r5, r3, #63; lsls r0, r2, r5
and r5, r3, #63; lsrs r0, r2, r5
and r5, r3, #63; asrs r0, r2, r5
and r5, r3, #63; rors r0, r2, r5
movs r0, #200
mov.w r0, #0xaa00aa00
movw r0, #0x1234
movt r0, #0x8765
mvns r0, r2
muls r0, r2
adds r0, r2, #7
subs r0, r2, #5
adds r0, #200
subs r0, #9
addw r0, r2, #3000
subw r0, r2, #4000
rsbs r0, r2, #0
adcs r0, r3
sbcs r0, r3
rors r0, r3
bics r0, r3
cmp r2, #77
cmp r8, r2
mov r0, r8
ssat r0, #8, r2
ssat r0, #12, r2, asr #4
ssat r0, #5, r2, lsl #3
usat r0, #8, r2
usat r0, #0, r2
usat r0, #9, r2, asr #6
ssat16 r0, #7, r2
usat16 r0, #7, r2
pkhbt r0, r2, r3, lsl #8
pkhtb r0, r2, r3, asr #8
pkhbt r0, r2, r3
bfi r0, r2, #5, #9
bfc r0, #4, #20
sbfx r0, r2, #7, #12
ubfx r0, r2, #31, #1
nop
dmb
strb r2, [r6, #3]; ldr r0, [r6, #0]
strb r2, [r6, #3]; ldrh r0, [r6, #2]
strb r2, [r6, #3]; ldrb r0, [r6, #3]
strb r2, [r6, #3]; ldrsh r0, [r6, #2]
strb r2, [r6, #3]; ldrsb r0, [r6, #3]
movs r5, #4; strh r2, [r6, r5]; ldrsh r0, [r6, r5]
str.w r2, [r6, r5, lsl #0]; ldr.w r0, [r6, #5]
strd r2, r3, [r6, #8]; ldrd r0, r1, [r6, #8]
mov r5, r6; str r2, [r5], #4; ldr r0, [r5, #-4]!; sub r1, r5, r6
mov r5, r6; stmia r5!, {r2, r3}; ldmdb r5!, {r0, r1}
push {r2, r3}; pop {r0, r1}
mov r5, r6; strd r2, r3, [r5], #8; ldrd r0, r1, [r5, #-8]!
push.w {r2, r8}; ldmia.w sp!, {r0, r8}
adr r5, 1f; ldrb r0, [r5]; b 2f; 1: .word 0x12345678; 2:
ldr r0, 1f; b 2f; .align 2; 1: .word 0x9abcdef0; 2:
ldrd r0, r1, 1f; b 2f; .align 2; 1: .word 1, 2; 2:
cbz r4, 1f; movs r0, #1; 1:
cbnz r4, 1f; movs r0, #2; 1:
bl 1f; b 2f; 1: mov r0, r2; bx lr; 2:
adr r5, 1f; adds r5, #1; blx r5; b 2f; .align 2; 1: mvn r0, r2; bx lr; 2:
and r5, r3, #3; tbb [pc, r5]; 1: .byte (2f-1b)/2, (3f-1b)/2, 2, (4f-1b)/2; 2: mov r0, #1; b 4f; 3: mov r0, #2; 4:
vmov s3, r2; vmov s4, s3; vmov r0, s4
vmov d4, r2, r3; vmov r1, r0, d4
vmov s9, s10, r2, r3; vmov r0, r1, s9, s10
vstr s3, [r6, #4]; ldr r0, [r6, #4]
vmov s5, r2; vpush {s5}; pop {r0}
vmov d6, r2, r3; vpush {d6}; vpop {d7}; vmov r0, r1, d7
cmp r2, r3; ittee lt; movlt r0, r2; addlt r0, #1; movge r0, r3; subge r0, #1
cmp r2, r3; ite hi; strhi r2, [r6]; strls r3, [r6]; ldr r0, [r6]
"""


def arm_instructions():
    out = ARM.splitlines()
    for op in [x + s for x in THREE for s in ("", "s")]:
        out += ["%s r0, r2, r3" % op, "%s.w r0, r2, #0xff00ff00" % op, "%s.w r0, r2, #0x1fe00" % op]
        out += ["%s.w r0, r2, r3, %s" % (op, shift) for shift in SHIFTS]
    for op in ("cmp", "cmn", "tst", "teq"):
        out += ["%s r2, r3" % op, "%s.w r2, #0xab0000" % op, "%s.w r2, r3, asr #2" % op]
    out += ["%s r0, r2, r3" % op for op in PARALLEL + PRODUCTS]
    out += ["%s r0, r2, r3, r4" % op for op in SUMS] + ["%s r0, r1, r2, r3" % op for op in LONG]
    out += ["%s r0, r2" % op for op in ONE] + ["%s.w r0, r2, ror #16" % op for op in ("sxtb", "uxth", "sxtb16")]
    out += ["%s r0, r2, r3%s" % (op, r) for op in EXTENDS for r in ("", ", ror #8")]
    for op in ("lsl", "lsr", "asr", "ror"):
        out += ["%s%s r0, r2, %s" % (op, s, by) for s in ("", "s") for by in ("r3", "#4")]
        out += ["and r5, r3, #63; %ss r0, r2, r5" % op]
    for kind, offset in (("", 0), ("h", 2), ("b", 3), ("sh", 2), ("sb", 3)):
        out += ["strb r2, [r6, #3]; ldr%s r0, [r6, #%d]" % (kind, offset)]
    for c in CONDITIONS:
        out += ["cmp r2, r3; b%s 1f; movs r0, #3; 1:" % c, "cmp r2, r3; b%s.w 1f; movs r0, #4; 1:" % c,
                "cmp r2, r3; it %s; mov%s r0, r2" % (c, c)]
    return out


RV_TWO = ("add sub sll slt sltu xor srl sra or and mul mulh mulhsu mulhu div divu rem remu sh1add sh2add sh3add andn "
          "orn xnor max maxu min minu rol ror").split()
RV_ONE = "clz ctz cpop sext.b sext.h zext.h orc.b rev8 neg not seqz snez".split()


# a0, a1: results, a2 and a3: operands, a4: third; s0: a buffer
RISCV = """\
addi a0, a2, -77
slti a0, a2, -77
sltiu a0, a2, -77
xori a0, a2, -77
ori a0, a2, -77
andi a0, a2, -77
slli a0, a2, 9
srli a0, a2, 9
srai a0, a2, 9
rori a0, a2, 9
lui a0, 0x12345
auipc a0, 0; auipc a1, 0; sub a0, a1, a0; li a1, 0
li a0, -3
mv a0, a3
c.addi a0, 7
c.srai a0, 3
c.srli a0, 5
c.andi a0, 12
c.sub a0, a2
c.xor a0, a3
c.or a0, a3
c.and a0, a3
c.slli a0, 4
c.add a0, a2
c.lui a0, 5
c.addi4spn a0, sp, 16; sub a0, a0, sp
nop
fence
sb a2, 3(s0); lw a0, 0(s0)
sb a2, 3(s0); lh a0, 2(s0)
sb a2, 3(s0); lhu a0, 2(s0)
sb a2, 3(s0); lb a0, 3(s0)
sb a2, 3(s0); lbu a0, 3(s0)
sh a2, 6(s0); lw a0, 4(s0)
addi sp, sp, -16; sw a2, 4(sp); lw a0, 4(sp); addi sp, sp, 16
c.sw a2, 8(s0); c.lw a0, 8(s0)
beq a2, a3, 1f; li a0, 3; 1:
bne a2, a3, 1f; li a0, 3; 1:
blt a2, a3, 1f; li a0, 3; 1:
bge a2, a3, 1f; li a0, 3; 1:
bltu a2, a3, 1f; li a0, 3; 1:
bgeu a2, a3, 1f; li a0, 3; 1:
c.beqz a4, 1f; li a0, 1; 1:
c.bnez a4, 1f; li a0, 2; 1:
j 1f; li a0, 4; 1:
jal t0, 1f; j 2f; 1: mv a0, a2; jr t0; 2:
mv s1, ra; call 1f; j 2f; 1: not a0, a2; ret; 2: mv ra, s1
la t1, 1f; mv s1, ra; jalr t1; j 2f; 1: neg a0, a2; ret; 2: mv ra, s1
"""


def riscv_instructions():
    out = RISCV.splitlines() + ["%s a0, a2, a3" % op for op in RV_TWO] + ["%s a0, a2" % op for op in RV_ONE]
    out += ["%s a0, a2, -77" % op for op in ("addi", "slti", "sltiu", "xori", "ori", "andi")]
    out += ["%s a0, a2, 9" % op for op in ("slli", "srli", "srai", "rori")]
    for kind, offset in (("w", 0), ("h", 2), ("hu", 2), ("b", 3), ("bu", 3)):
        out += ["sb a2, 3(s0); l%s a0, %d(s0)" % (kind, offset)]
    return out + ["%s a2, a3, 1f; li a0, 3; 1:" % op for op in ("beq", "bne", "blt", "bge", "bltu", "bgeu")]


class Arm:
    insns = staticmethod(arm_instructions)
    head = "\t.syntax unified\n\t.cpu cortex-a15\n\t.fpu vfpv4\n\t.thumb\n\t.text\n"
    function = "\t.global %s\n\t.type %s, %%function\n\t.thumb_func\n%s:\n"
    enter = "\tpush.w {r4-r11, lr}\n\tldr r6, =buffer\n\tldr r7, =where\n"
    leave = "\tpop.w {r4-r11, pc}\n\t.ltorg\n"
    loads = "ldr r0, =%#x; ldr r1, =%#x; ldr r2, =%#x; ldr r3, =%#x; ldr r4, =%#x; movs r5, #4; ldr.w r8, =%#x\n"
    flags = "\tcmp.w r2, r4\n"
    after = ("\tite mi\n\tmovmi.w r9, #1\n\tmovpl.w r9, #0\n\tit eq\n\taddeq r9, #2\n\tit cs\n\taddcs r9, #4\n\tit vs\n"
             "\taddvs r9, #8\n")
    keep = "\tstmia r7!, {r0, r1}\n\tstr r9, [r7], #4\n"
    test = ("ldr r10, =%#x; cmp r0, r10; bne 9f; ldr r10, =%#x; cmp r1, r10; bne 9f; cmp r9, #%d; beq 8f; 9: udf #0\n"
            "8:\n")
    start = ("\t.global _start\n\t.thumb_func\n_start:\n\tbl t_run\n\tldr r1, =where\n\tsub r2, r7, r1\n\tmovs r0, #1\n"
             "\tmovs r7, #4\n\tsvc #0\n\tmovs r0, #0\n\tmovs r7, #1\n\tsvc #0\n\t.ltorg\n")
    part = "\tmov r11, lr\n"
    end_part = "\tbx r11\n\t.ltorg\n"
    call = "\tbl %s\n"
    leave_with_end = "\tpop.w {r4-r6}\n\tadd sp, #4\n\tpop.w {r8-r11, pc}\n\t.ltorg\n"  # r7: the end of results


class Riscv:
    insns = staticmethod(riscv_instructions)
    head = "\t.option norelax\n\t.text\n"
    function = "\t.global %s\n\t.type %s, @function\n%s:\n"
    enter = "\taddi sp, sp, -16\n\tsw ra, 12(sp)\n\tla s0, buffer\n\tla s2, where\n"
    leave = leave_with_end = "\tlw ra, 12(sp)\n\taddi sp, sp, 16\n\tret\n"
    loads = "li a0, %#x; li a1, %#x; li a2, %#x; li a3, %#x; li a4, %#x; li a6, %#x\n"
    flags = after = ""
    part = "\tmv s3, ra\n"
    end_part = "\tmv ra, s3\n\tret\n"
    call = "\tcall %s\n"
    keep = "\tsw a0, 0(s2)\n\tsw a1, 4(s2)\n\tsw zero, 8(s2)\n\taddi s2, s2, 12\n"
    test = "\tli t2, %#x\n\tbne a0, t2, 9f\n\tli t2, %#x\n\tbne a1, t2, 9f\n\tli t2, %d\n\tj 8f\n9:\tunimp\n8:\n"
    start = (".global _start; _start: call t_run; la a1, where; sub a2, s2, a1; li a0, 1; li a7, 64; ecall\n"
             "li a0, 0; li a7, 93; ecall\n")


def operand(rng):
    ends = [0, 0xffffffff, 0x80000000, 0x7fffffff]
    return rng.choice([rng.getrandbits(32), rng.getrandbits(8), rng.getrandbits(16) * 65537] + ends)


def main():
    core = Arm if sys.argv[1] == "arm" else Riscv
    checks = sys.argv[2] == "check"
    results = struct.iter_unpack("<III", open(sys.argv[3], "rb").read()) if checks else None
    rng = random.Random(7)
    out = [core.head]
    cases = [(i, [operand(rng) for _ in range(6)]) for i in core.insns() for _ in range(TRIES)]
    parts = 0
    for k, (insn, values) in enumerate(cases):
        if k % 20 == 0:
            out.append((core.end_part if k else "") + core.function % (("part%d" % parts,) * 3) + core.part)
            parts += 1
        out.append(core.loads % tuple(values) + core.flags + "\t%s\n" % insn + core.after)
        out.append(core.test % next(results) if checks else core.keep)
    out.append(core.end_part + core.function % (("t_run",) * 3) + core.enter)
    out += [core.call % ("part%d" % i) for i in range(parts)]
    out.append(core.leave if checks else core.leave_with_end)
    if not checks:
        out.append(core.start)
    out.append("\t.bss\n\t.align 3\nbuffer:\t.space 64\nwhere:\t.space %d\n" % (len(cases) * 12 + 64))
    sys.stdout.write("".join(out))


if __name__ == "__main__":
    main()
