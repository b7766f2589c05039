"""schema.py - checks documents against docs/arenac.schema.json: the part of JSON Schema that it uses, without
libraries.
usage: schema.py SCHEMA FILE.json...; prints violations and then exits with 1."""
import json
import re
import sys

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "integer": int,
         "number": (int, float)}
KNOWN = {"$schema", "$defs", "title", "description", "oneOf", "$ref", "const", "enum", "type", "minimum", "properties",
         "required", "additionalProperties", "items", "pattern"}


def is_type(v, name):
    return isinstance(v, TYPES[name]) and (name == "boolean" or not isinstance(v, bool))


def faults(v, s, root, at="$"):
    """The violations of schema s in v."""
    assert set(s) <= KNOWN, f"schema.py does not know {set(s) - KNOWN}"
    if "$ref" in s:
        return faults(v, root["$defs"][s["$ref"].rsplit("/", 1)[1]], root, at)
    if "oneOf" in s:
        each = [faults(v, one, root, at) for one in s["oneOf"]]
        if sum(not f for f in each) == 1:
            return []
        near = min(each, key=lambda f: (any(x.startswith(f"{at}.schema:") for x in f), len(f)))
        return near or [f"{at}: more than one schema holds"]
    if "const" in s and v != s["const"] or "enum" in s and v not in s["enum"]:
        return [f"{at}: {v!r}, expected {s.get('const', s.get('enum'))!r}"]
    types = s.get("type", [])
    types = [types] if isinstance(types, str) else types
    if types and not any(is_type(v, t) for t in types):
        return [f"{at}: {v!r}, expected {' or '.join(types)}"]
    found = [f"{at}: {v} is less than {s['minimum']}"] if "minimum" in s and v is not None and v < s["minimum"] else []
    if "pattern" in s and isinstance(v, str) and not re.search(s["pattern"], v):
        found.append(f"{at}: {v!r} does not match {s['pattern']}")
    if isinstance(v, dict) and "properties" in s:
        found += [f"{at}: no '{k}'" for k in s["required"] if k not in v]
        for k, x in v.items():
            if k in s["properties"]:
                found += faults(x, s["properties"][k], root, f"{at}.{k}")
            elif s["additionalProperties"] is False:
                found.append(f"{at}: '{k}' is not in the schema")
    if isinstance(v, list) and "items" in s:
        for i, x in enumerate(v):
            found += faults(x, s["items"], root, f"{at}[{i}]")
    return found


def main():
    with open(sys.argv[1], encoding="utf-8") as f:
        root = json.load(f)
    wrong = 0
    for path in sys.argv[2:]:
        with open(path, encoding="utf-8") as f:
            found = faults(json.load(f), root, root)
        wrong += bool(found)
        for line in found[:5]:
            print(f"{path}: {line}")
    print(f"{len(sys.argv) - 2} documents, {wrong} wrong")
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
