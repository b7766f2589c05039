#!/usr/bin/env python3
"""sbom.py VERSION FOLDER - prints the bill of materials of a release: SPDX 2.3, JSON.

Each file of FOLDER is a package with its SHA-256. arenac itself contains no other software; the wheel of the LLVM
backend has LLVM inside. The time is $SOURCE_DATE_EPOCH, so the same files give the same text."""
import datetime
import hashlib
import json
import os
import pathlib
import sys

LLVM = {"SPDXID": "SPDXRef-LLVM", "name": "LLVM", "versionInfo": "19", "downloadLocation": "https://releases.llvm.org",
        "licenseConcluded": "Apache-2.0 WITH LLVM-exception", "licenseDeclared": "Apache-2.0 WITH LLVM-exception",
        "copyrightText": "NOASSERTION", "filesAnalyzed": False, "primaryPackagePurpose": "LIBRARY"}


def package(number, path, version):
    data = path.read_bytes()
    kind = "SOURCE" if path.name == "arenac-%s.tar.gz" % version else "INSTALL"
    return {"SPDXID": "SPDXRef-File-%d" % number, "name": path.name, "versionInfo": version,
            "packageFileName": path.name, "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "checksums": [{"algorithm": "SHA256", "checksumValue": hashlib.sha256(data).hexdigest()}],
            "licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "NOASSERTION",
            "primaryPackagePurpose": kind}


def related(one, kind, other):
    return {"spdxElementId": one, "relationshipType": kind, "relatedSpdxElement": other}


def main():
    version, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    files = sorted(p for p in folder.iterdir() if p.name.endswith((".gz", ".whl", ".deb", ".zip")))
    packages = [package(i, p, version) for i, p in enumerate(files)]
    relations = [related("SPDXRef-DOCUMENT", "DESCRIBES", p["SPDXID"]) for p in packages]
    with_llvm = [p for p in packages if p["name"].startswith("arenac_llvm-")]
    relations += [related(p["SPDXID"], "STATIC_LINK", LLVM["SPDXID"]) for p in with_llvm]
    when = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    sums = "".join(p["checksums"][0]["checksumValue"] for p in packages)
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "arenac-" + version,
        "documentNamespace": "https://arenac.invalid/spdx/%s/%s" % (version, hashlib.sha256(sums.encode()).hexdigest()),
        "creationInfo": {"created": when.strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: arenac-sbom.py"]},
        "packages": packages + ([LLVM] if with_llvm else []), "relationships": relations}
    json.dump(document, sys.stdout, indent=1)
    print()


main()
