#!/bin/sh
# Help fits the terminal; completions know verbs, the options of each and their values, in every shell that is there.
# usage: help.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
verbs=$("$arenac" help | sed -n 's/^  arenac \([a-z]*\) .*/\1/p')
[ "$(echo "$verbs" | wc -l)" -gt 15 ] || fail "the overview lists few verbs"
for width in 60 80 100; do
    for verb in $verbs; do
        COLUMNS=$width "$arenac" help "$verb" >long.txt
        COLUMNS=$width "$arenac" "$verb" --help >short.txt
        [ "$(wc -l <short.txt)" -le 24 ] || fail "$verb --help has $(wc -l <short.txt) lines"
        # only a single word or the name of an option may be unfoldable
        awk -v n=$width 'length >= n && !/^ +--?[^ ]+ [^ ]+$/ && !/^ *[^ ]+$/ && NR > 1' long.txt short.txt >wide.txt
        [ ! -s wide.txt ] || { cat wide.txt; fail "help $verb does not fit $width columns"; }
    done
done
# no text is cut in its middle: of each option the short help has a beginning that ends where a clause does
if have python3 python3; then
    for verb in plan compile run train; do
        for width in 0 80; do # 0: a pipe
            COLUMNS=$width "$arenac" "$verb" --help >short.txt
            COLUMNS=$width "$arenac" help "$verb" >long.txt
            python3 - <<'X' || fail "$verb --help at $width: an option is cut"
import re, sys
def options(name):
    found, key = {}, None
    for line in open(name):
        m = re.match(r"  (?:-., |    )(--[^ ]+.{0,29}?)(?:  +|$)(.*)", line)
        if m:
            key = m[1]
            found[key] = m[2]
        elif key and line.startswith(" " * 30):
            found[key] += " " + line.strip()
        else:
            key = None
    return {k: v.strip() for k, v in found.items()}
short, whole = options("short.txt"), options("long.txt")
assert len(short) > 1, "few options"
for key, text in short.items():
    rest = whole[key][len(text):]
    if not whole[key].startswith(text) or not re.match(r"$|;| \(", rest):
        sys.exit(f"{key}: {text!r} of {whole[key]!r}")
X
        done
    done
fi
# the purpose of a verb comes first, also in the short help
for line in 'run --input --random --compare --output-dir --threads --per-node --backend' \
    'grad --input --cotangent --output-dir' \
    'bench --input --runs --per-op' 'train --data --target --loss --optimizer --lr --batch --epochs --steps --trained'
do
    verb=${line%% *}
    "$arenac" "$verb" --help >short.txt
    for option in ${line#* }; do
        grep -q -e " $option " short.txt || fail "$verb --help has no $option"
    done
done
"$arenac" help run | sed -n '/^ .*--/p' | head -4 | grep -q -e --input ||
    fail "--input is not among the first of help run"
COLUMNS=200 "$arenac" help compile | awk 'length > 120' >wide.txt
[ ! -s wide.txt ] || fail "lines are longer than one reads"
# the words are those of the table, folded or not
COLUMNS=60 "$arenac" help compile | tr -s ' \n' ' ' >narrow.txt
COLUMNS=120 "$arenac" help compile | tr -s ' \n' ' ' >broad.txt
cmp -s narrow.txt broad.txt || fail "folding changes the text"
for verb in $verbs; do
    "$arenac" help "$verb" --man | grep -q '^\.SH SYNOPSIS' || fail "no manual page of $verb"
done
if have man man-db; then
    "$arenac" help plan --man >plan.1
    LC_ALL=C MANROFFSEQ='' man --warnings -l plan.1 >/dev/null 2>warnings.txt
    [ ! -s warnings.txt ] || { cat warnings.txt; fail "man complains"; }
fi

# complete SHELL WORD...: the completions of the shell after the words
bash_offers() {
    bash -c 'source <("$0" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _arenac
        printf "%s\n" "${COMPREPLY[@]}"' "$arenac" arenac "$@"
}
offers() { # WORD of what is offered, then the line
    want=$1
    shift
    bash_offers "$@" | grep -qx -e "$want" || { bash_offers "$@"; fail "bash does not offer '$want' after '$*'"; }
}
not_offered() {
    want=$1
    shift
    ! bash_offers "$@" | grep -qx -e "$want" || fail "bash offers '$want' after '$*'"
}
if have bash bash; then
    offers compile co
    offers --emit compile --em
    offers html plan --emit h
    offers cortex-m4 compile -t cortex-
    offers adamw train --optimizer ad
    offers bash completion b
    offers E0107 explain E01
    offers convert help con
    not_offered --epochs compile --e
    not_offered cortex-m4 train --target cortex
    touch model.tflite
    offers model.tflite plan mod
fi
if have zsh zsh; then
    "$arenac" completion zsh >_arenac
    zsh -n _arenac || fail "zsh does not read its script"
    zsh -fc 'autoload -U compinit; compinit -D; source ./_arenac; print $_comps[arenac]' >zsh.txt 2>&1
    grep -q '^_arenac$' zsh.txt || { cat zsh.txt; fail "zsh does not take its script"; }
fi
if have fish fish; then
    "$arenac" completion fish >arenac.fish
    fish -c 'source arenac.fish; complete -C "arenac plan --planner v"' | grep -q '^valley' || fail "fish: values"
    ! fish -c 'source arenac.fish; complete -C "arenac compile --ep"' | grep -q epochs || fail "fish: options of verbs"
fi
# each verb, each of its options that is one of some words: all shells offer all of them
for verb in $verbs; do
    COLUMNS=200 "$arenac" help "$verb" |
        sed -n 's/^ *\(-., \)\{0,1\}--\([a-z-]*\) \([a-z0-9]*\(|[a-z0-9]*\)\{1,\}\)\( .*\)\{0,1\}$/'"$verb"' \2 \3/p'
done >words.txt
[ "$(wc -l <words.txt)" -gt 80 ] || fail "few options of words: $(wc -l <words.txt)"
if have bash bash; then
    bash -c 'source <("$0" completion bash)
        while read -r verb option words; do
            COMP_WORDS=(arenac "$verb" "--$option" "") COMP_CWORD=3
            _arenac
            for w in ${words//|/ }; do
                [[ " ${COMPREPLY[*]} " == *" $w "* ]] || echo "$verb --$option: no $w"
            done
        done <words.txt' "$arenac" >lost.txt
    [ ! -s lost.txt ] || { head lost.txt; fail "bash: values of verbs"; }
fi
if have fish fish; then
    fish -c 'source arenac.fish
        while read -l verb option words
            set -l offered (complete -C "arenac $verb --$option " | string replace -r "\t.*" "")
            for w in (string split "|" $words)
                contains -- $w $offered; or echo "$verb --$option: no $w"
            end
        end <words.txt' >lost.txt 2>&1
    [ ! -s lost.txt ] || { head lost.txt; fail "fish: values of verbs"; }
fi
if have zsh zsh; then # of its script: the option in the part of the verb, with its words
    while read -r verb option words; do
        sed -n "/^  $verb) _arguments/,/^  [a-z]*) _arguments/p" _arenac | grep -e "--$option[=+-]*\[" >line.txt
        for w in $(echo "$words" | tr '|' ' '); do
            grep -q ":(\(.* \)\{0,1\}$w\( .*\)\{0,1\})" line.txt || echo "$verb --$option: no $w"
        done
    done <words.txt >lost.txt
    [ ! -s lost.txt ] || { head lost.txt; fail "zsh: values of verbs"; }
fi
exit $bad
