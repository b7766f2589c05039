/* text_words.h - the words of the loop IR's text form, shared by dump.c and parse.c. docs/loop-ir.md has the
 * grammar. */
#ifndef AC_IR_LOOP_TEXT_WORDS_H
#define AC_IR_LOOP_TEXT_WORDS_H

/* In the order of ac_role, ac_where and ac_mark. */
static const char *const AC_ROLE_TEXT[] = {"in", "out", "inout", "const", "scratch", "local"};
static const char *const AC_WHERE_TEXT[] = {"stack", "shared", "thread", "spread"};
static const char *const AC_MARK_TEXT[] = {"serial", "unroll", "apart", "nest", "parallel", "grid", "cluster", "block"};

#endif
