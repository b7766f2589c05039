#!/bin/sh
# Help fits the terminal; completions know verbs, the options of each and their values, in every shell that is there.
# usage: help.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
verbs=$("$arenac" help | sed -n 's/^  arenac \([a-z]*\) .*/\1/p')
[ "$(echo "$verbs" | wc -l)" -gt 15 ] || fail "the overview lists few verbs"
[ "$("$arenac" -h | grep -c '^[A-Z].*:$')" = 5 ] || fail "the overview has not four groups of verbs and examples"
for width in 60 80 100; do
    for verb in $verbs; do
        COLUMNS=$width "$arenac" help "$verb" >long.txt
        COLUMNS=$width "$arenac" "$verb" --help >short.txt
        options=$(grep -c '^  \(-.,\|   \) --' short.txt)
        [ "$options" -le 18 ] || fail "$verb --help has $options options"
        [ "$width" -lt 80 ] || [ "$(wc -l <short.txt)" -le 60 ] || fail "$verb --help has $(wc -l <short.txt) lines"
        # what cannot be folded is a single word or the name of an option
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
    if len(whole[key]) > 100:
        sys.exit(f"{key}: {len(whole[key])} characters")
    if not whole[key].startswith(text) or not re.match(r"$|;| \(", rest):
        sys.exit(f"{key}: {text!r} of {whole[key]!r}")
X
        done
    done
fi
# the short help has the options that a verb is for
for line in 'run --input --random --compare --output-dir --threads --per-node --backend' \
    'grad --input --cotangent --output-dir' \
    'bench --input --runs --per-op' 'compile --output --target --budget --emit' 'plan --budget --stripe --dim --lock' \
    'train --data --target --loss --optimizer --lr --batch --epochs --steps --trained'
do
    verb=${line%% *}
    "$arenac" "$verb" --help >short.txt
    for option in ${line#* }; do
        grep -q -e " $option " short.txt || fail "$verb --help has no $option"
    done
done
"$arenac" help run | sed -n '/^ .*--/p' | head -1 | grep -q -e --input || fail "help run does not begin with --input"
# every option is under one heading, in the short help, the long one and the manual page
for verb in $verbs; do
    for form in --help --help-all; do
        "$arenac" "$verb" $form >text.txt
        awk '/^$/ { blank = NR } /^[A-Z].*:$/ && length < 26 { if (blank != NR - 1 || seen[$0]++) bad = 1; under = 1 }
            /^  (-.,|   ) --/ && !under { bad = 1 } END { exit bad }' text.txt || fail "$verb $form: headings"
        [ "$(sed -n '/^Examples:/,/^$/p' text.txt | grep -c '^  arenac ')" -ge 1 ] || fail "$verb $form has no examples"
    done
done
COLUMNS=200 "$arenac" help compile | awk 'length > 120' >wide.txt
[ ! -s wide.txt ] || fail "lines are longer than one reads"
# examples run as they are printed
cp "$models/digits_int8.tflite" model.tflite
cp "$models/digits_int8.in0.0.npy" x.npy
cp "$models/digits_int8.out0.0.npy" y.npy
cp model.tflite old.tflite
cp "$models/dsnet_int8.tflite" new.tflite
"$arenac" plan -q model.tflite --emit lock -o model.lock
"$arenac" plan -q model.tflite --inplace off --emit lock -o old.lock
cp model.lock new.lock
"$arenac" plan -q model.tflite --emit csv -o plan.csv
"$arenac" plan -q model.tflite --emit problem -o problem.csv
for verb in $verbs; do
    COLUMNS=2000 "$arenac" help "$verb" --man | sed -n '/^.SH EXAMPLES/,/^.SH EXIT/s/^.B arenac //p' | tr -d '\\'
done >examples.txt
[ "$(wc -l <examples.txt)" -gt 45 ] || fail "few examples: $(wc -l <examples.txt)"
while read -r line; do
    want=0
    case "$line" in
    *model.onnx* | "bench "*) continue ;; # onnx: tests/cli/train, tutorials.sh; bench: bench.sh
    "diff "*) want=6 ;;
    esac
    got=0
    sh -c "'$arenac' $line" >example.log 2>&1 </dev/null || got=$?
    [ "$got" = "$want" ] || { cat example.log; fail "arenac $line: exit $got, not $want"; }
done <examples.txt
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

# complete SHELL WORD...: what the shell offers after the words
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
