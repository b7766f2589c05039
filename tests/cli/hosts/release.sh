#!/bin/sh
# The files of a release: sources, checksums, notes, bill of materials. The same commit gives the same bytes; what is
# not committed, or names another version, stops it. usage: release.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require git git gzip gzip python3 python3
git -C "$src" rev-parse HEAD >/dev/null 2>&1 || { echo "skipped: the sources are no repository of git"; exit 77; }
git clone -q "$src" tree 2>/dev/null || { echo "skipped: the repository cannot be cloned"; exit 77; }
cp "$src"/scripts/release.sh "$src"/scripts/sbom.py tree/scripts
commit() { git -C tree add -A && git -C tree -c user.name=a -c user.email=a@b.invalid commit -q --allow-empty -m "$1"; }
commit "the scripts of this tree"
version=$("$arenac" plan --version | sed 's/arenac //')
for d in one two; do
    mkdir -p $d
    echo wheel >"$d/arenac_llvm-$version-py3-none-any.whl" # one that lies there is listed
    expect 0 "arenac-$version.tar.gz" sh tree/scripts/release.sh "$tmp/$d"
done
diff -r one two || fail "other bytes of the same commit"
(cd one && sha256sum -c SHA256SUMS >/dev/null) || fail "wrong checksums"
tar -xzf "one/arenac-$version.tar.gz"
[ -s "arenac-$version/CMakeLists.txt" ] && [ ! -e "arenac-$version/.git" ] || fail "the tarball"
grep -q '^### ' "one/arenac-$version.notes.md" || fail "no notes"
python3 - "$version" <<'END' || fail "the bill of materials"
import hashlib, json, sys
d = json.load(open("one/arenac-%s.spdx.json" % sys.argv[1]))
assert d["spdxVersion"] == "SPDX-2.3" and d["dataLicense"] == "CC0-1.0" and d["SPDXID"] == "SPDXRef-DOCUMENT"
assert d["creationInfo"]["created"].endswith("Z") and d["documentNamespace"].startswith("https://")
ids = [p["SPDXID"] for p in d["packages"]]
assert len(set(ids)) == len(ids) == 3, ids  # sources, a wheel, LLVM
for p in d["packages"]:
    for sum in p.get("checksums", []):
        data = open("one/" + p["packageFileName"], "rb").read()
        assert sum["checksumValue"] == hashlib.sha256(data).hexdigest(), p
for r in d["relationships"]:
    assert {r["spdxElementId"], r["relatedSpdxElement"]} <= {*ids, "SPDXRef-DOCUMENT"}, r
assert [r["relationshipType"] for r in d["relationships"]].count("STATIC_LINK") == 1
END
sed -i "s/arenac-llvm==$version/arenac-llvm==9.9/" tree/pyproject.toml
expect 1 'not committed' sh tree/scripts/release.sh "$tmp/one"
commit "another version"
expect 1 "does not require arenac-llvm==$version" sh tree/scripts/release.sh "$tmp/one"
