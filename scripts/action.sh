#!/bin/sh
# action.sh - the steps of action.yml: plans each of $MODELS (lines) with $OPTIONS, compares it with the model of the
# branch $BASE if that is set, and writes arenac-plan.md. Exit status 1 if a plan is over $BUDGET or a model fails.
# $ARENAC: the program (arenac).
set -u
arenac=${ARENAC-arenac} status=0 page=arenac-plan.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "## Memory plans (arenac)" >"$page"
[ -z "${BASE-}" ] || git fetch -q --depth=1 origin "$BASE" || BASE=
printf '%s\n' "$MODELS" >"$work/models"
while read -r model weights; do
    [ -n "$model" ] || continue
    printf '\n### %s\n\n' "$model" >>"$page"
    # shellcheck disable=SC2086
    if ! "$arenac" plan -q ${OPTIONS-} ${BUDGET:+--budget "$BUDGET"} --emit lock -o "$work/now.lock" "$model" $weights \
        2>"$work/errors"; then
        status=1
        { echo '```'; cat "$work/errors"; echo '```'; } >>"$page"
        cat "$work/errors" >&2
    fi
    [ -s "$work/now.lock" ] || continue
    rm -rf "$work/base"
    mkdir "$work/base"
    for f in $model $weights; do
        mkdir -p "$work/base/$(dirname "$f")"
        [ -n "${BASE-}" ] && git show "FETCH_HEAD:./$f" >"$work/base/$f" 2>/dev/null || rm -f "$work/base/$f"
    done
    # shellcheck disable=SC2086
    if [ -e "$work/base/$model" ] && (cd "$work/base" && "$arenac" plan -q ${OPTIONS-} --emit lock -o "$work/old.lock" \
        "$model" $weights 2>/dev/null); then
        "$arenac" diff --md "$work/old.lock" "$work/now.lock" >>"$page" || [ $? = 6 ] || status=1
    else
        "$arenac" plan -q ${OPTIONS-} --emit md -o - "$model" $weights >>"$page" 2>/dev/null
    fi
    rm -f "$work/now.lock" "$work/old.lock"
done <"$work/models"
exit $status
