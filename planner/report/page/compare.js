// compare.js - before and after: another planner of this page, or a plan from a file (a page like this one, the JSON
// report, or a lock), drawn below the map in the same columns and the same scale, and what has changed.
let other = null; // {title, bytes, rows: name -> {bytes, mem, at, first, last}}

// The chosen plan, or planner k, in the form of a plan that was read.
function planAs(d, k, title) {
    const rows = new Map(), mem = d.mem.length ? d.mem[k] : null;
    d.name.forEach((name, i) => {
        if (d.item[i] >= 0)
            rows.set(name, {bytes: d.bytes[i], mem: d.memories[mem ? mem[d.item[i]] : 0], at: d.offsets[k][d.item[i]]
                + d.delta[i], first: d.first[i], last: d.last[i], alias: Boolean(d.alias[i])});
    });
    return {title, bytes: d.arena[k], rows};
}

function planOfReport(j, title) {
    const rows = new Map();
    for (const t of j.tensors)
        if (t.memory)
            rows.set(t.name, {bytes: t.bytes, mem: t.memory, at: t.offset_bytes, first: t.first_step,
                last: t.last_step, alias: Boolean(t.alias)});
    return {title, bytes: j.plan.arena_bytes, rows};
}

function planOfLock(text, title) {
    const rows = new Map();
    let bytes = 0;
    for (const line of text.split("\n")) {
        const w = line.split(" ");
        if (w[0] === "memory" && w[1] !== "state")
            bytes += +w[2];
        else if (w.length === 6 && w[0] !== "#")
            rows.set(decodeURIComponent(w[0]), {bytes: +w[1], mem: w[2], at: +w[3], first: +w[4], last: +w[5]});
    }
    return {title, bytes, rows};
}

// A plan of what a file holds; null: it holds none.
function planOf(text, title) {
    try {
        if (text.startsWith("arenac-lock "))
            return planOfLock(text, title);
        if (text.startsWith("{"))
            return planOfReport(JSON.parse(text), title);
        const page = new DOMParser().parseFromString(text, "text/html");
        return planAs(JSON.parse(page.getElementById("plan-data").textContent), 0, title);
    } catch {
        return null;
    }
}

// All rows that differ, those with the largest change of size or of place first.
function changes(a, b) {
    const list = [];
    for (const [name, x] of a.rows) {
        const y = b.rows.get(name);
        if (!y)
            list.push({name, what: "gone", by: x.bytes, x});
        else if (x.bytes !== y.bytes)
            list.push({name, what: "size", by: Math.abs(x.bytes - y.bytes), x, y});
        else if (x.at !== y.at || x.mem !== y.mem)
            list.push({name, what: "moved", by: x.bytes, x, y});
    }
    for (const [name, y] of b.rows)
        if (!a.rows.has(name))
            list.push({name, what: "new", by: y.bytes, y});
    return list.sort((p, q) => q.by - p.by || (p.name < q.name ? -1 : 1));
}

function drawBefore() {
    const out = el("before");
    out.replaceChildren();
    if (!other)
        return;
    const p = panels[0], now = planAs(D, state.plan, ""), top = Math.max(topOf(0), other.bytes * 33 / 32);
    const h = Math.max(20, p.h * top / topOf(0)), list = changes(other, now);
    make(out, "h2", {}, "Compared with " + other.title + ": " + comma(other.bytes) + " B before, " + comma(now.bytes)
        + " B now (" + percent(now.bytes, other.bytes) + ")");
    const svg = make(out, "svg", {viewBox: "0 0 " + width + " " + (h + 4), width, height: h + 4, role: "img",
        "aria-label": "The map of " + other.title});
    make(svg, "rect", {class: "plot", x: p.x, y: 2, width: p.w, height: h});
    const box = make(svg, "svg", {x: p.x, y: 2, width: p.w, height: h}), small = [];
    const axis = make(svg, "g", {class: "ax", "text-anchor": "end"});
    make(axis, "text", {x: p.x - 7, y: 14 + h - h * other.bytes / top}, size(other.bytes));
    make(axis, "text", {x: p.x - 7, y: h}, (several ? D.memories[0] + " " : "") + "before");
    const moved = new Map(list.map(c => [c.name, c]));
    let n = 0;
    for (const [name, r] of other.rows) {
        n++;
        if (r.alias || r.mem !== D.memories[0])
            continue;
        const x = px(p, r.first), w = px(p, r.last + 1) - x, k = h * r.bytes / top, y = h - h * r.at / top - k;
        if (far && (w < LEAST || k < LEAST)) {
            small.push([x, y, w, k, TINTS[+dark][n % 3]]);
            continue;
        }
        const g = make(box, "g", {class: "t act" + ["", " b", " c"][n % 3] + (moved.has(name) ? " moved" : "")});
        make(make(g, "rect", {x, y: k < 1 ? y + k - 1 : y, width: w, height: Math.max(k, 1)}), "title", {}, name);
    }
    if (small.length)
        box.prepend(make(box, "image", {width: p.w, height: h, preserveAspectRatio: "none",
            href: density(p.w, h, small)}));
    const summary = ["moved", "size", "gone", "new"].map(w => [w, list.filter(c => c.what === w).length])
        .filter(w => w[1]).map(([w, k]) => k + " " + (w === "size" ? "of another size" : w)).join(", ");
    make(out, "p", {class: "keys", id: "changes"}, list.length ? summary + " of " + now.rows.size + " tensors."
        : "No tensor differs.");
    if (!list.length)
        return;
    const table = make(make(out, "details"), "table", {id: "changed"});
    table.before(make(table.parentNode, "summary", {}, "What has changed"));
    const head = make(make(table, "thead"), "tr"), body = make(table, "tbody");
    for (const [k, t] of ["tensor", "change", "bytes before", "bytes now", "address before", "address now"].entries())
        make(head, "th", {scope: "col", class: k > 1 ? "n" : ""}, t);
    for (const c of list.slice(0, SOME)) {
        const tr = make(body, "tr"), i = D.name.indexOf(c.name);
        if (i >= 0)
            link(make(tr, "td"), D.short[i], () => pickTensor(i)).title = c.name;
        else
            make(tr, "td", {}, c.name);
        make(tr, "td", {}, c.what === "size" ? "size" : c.what);
        for (const r of [c.x, c.y])
            make(tr, "td", {class: "n"}, r ? comma(r.bytes) : "");
        for (const r of [c.x, c.y])
            make(tr, "td", {class: "at n"}, r ? (r.mem === "arena" ? "" : r.mem + " ") + hex(r.at) : "");
    }
}

function compareWith(name) {
    const k = D.planners.indexOf(name);
    state.than = k >= 0 ? name : "";
    other = k >= 0 ? planAs(D, k, name) : null;
    el("than").value = k >= 0 ? name : "";
    drawBefore();
    saveLink();
}

async function compareFile(file) {
    other = planOf(await file.text(), file.name);
    state.than = "";
    drawBefore();
    if (!other)
        make(el("before"), "p", {role: "alert"}, file.name + " holds no plan; a page or JSON report of arenac plan, or "
            + "a lock, is expected.");
}

function showCompare() {
    for (const name of D.planners)
        make(el("than"), "option", {value: name}, name);
    make(el("than"), "option", {value: "\u0000file"}, "a file...");
    el("than").onchange = e => {
        if (e.target.value === "\u0000file")
            el("than-file").click();
        else
            compareWith(e.target.value);
    };
    el("than-file").onchange = e => e.target.files.length && compareFile(e.target.files[0]);
    addEventListener("dragover", e => e.preventDefault());
    addEventListener("drop", e => {
        e.preventDefault();
        if (e.dataTransfer.files.length)
            compareFile(e.dataTransfer.files[0]);
    });
}
