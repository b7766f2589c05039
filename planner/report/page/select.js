// select.js - what is selected and how: the step with its live set, the tensor with its neighbours, the list of
// planners, what would take less, search, the card at the pointer, the address of it all (#step=..&tensor=..).

// ------------------------------------------------------------------ the step

function used(k, s) {
    const q = pieces(D.root[k]).find(x => x[0] <= s && s < x[1]);
    return q ? q[3] - q[2] : 0;
}

function roleOf(i, s) {
    if (!D.step_op.length)
        return D.first[i] + "-" + D.last[i];
    return D.producer[i] === s ? "output" : D.readers[i].includes(s) ? "input" : D.kind[i] === "scratch" ? "scratch"
        : "waiting";
}

function showStep() {
    const out = el("step-view"), s = state.step;
    out.replaceChildren();
    el("step").value = s < 0 ? "" : s;
    if (s < 0) {
        make(out, "p", {class: "keys"}, "Click a column or a step number for what is alive then.");
        return;
    }
    const h = make(out, "h2", {}, "Step " + opOf(s) + (s !== D.peak ? "" : several ? ", the peak of all" : ", the peak")
        + (several ? D.ram.filter(m => D.used[state.plan][m] && peakOf(m) === s).map(m => ", the peak of "
            + D.memories[m]).join("") : ""));
    if (D.step_name[s])
        h.title = D.step_name[s];
    if (D.step_op.length)
        stepLines(s).slice(2).forEach(text => make(out, "p", {class: "keys"}, text));
    const table = make(out, "table", {id: "live"});
    const head = make(make(table, "thead"), "tr");
    ["tensor", "bytes", "address", "role"].forEach((t, k) => make(head, "th", {class: k === 1 ? "n" : "",
        scope: "col"}, t));
    const body = make(table, "tbody"), counted = new Set(), set = live(s), spans = D.ram.map(() => []);
    let sum = 0;
    const roots = set.filter(i => D.root[D.item[i]] === i);
    for (const i of roots.concat(set.filter(j => D.root[D.item[j]] !== j))) {
        const k = D.item[i], again = counted.has(k);
        const tr = make(body, "tr", {"data-t": i, class: again ? "shared" : ""});
        link(make(tr, "td"), D.short[i], () => pickTensor(i)).title = D.name[i];
        make(tr, "td", {class: "n"}, again ? "(" + comma(D.bytes[i]) + ")" : comma(used(k, s)));
        make(tr, "td", {class: "at"}, place(i) + range(i));
        make(tr, "td", {}, roleOf(i, s) + (again ? ", " + (D.how[i] || "shared") : ""));
        const m = D.ram.indexOf(memOf(k));
        if (!again && m >= 0) {
            sum += used(k, s);
            spans[m].push(...pieces(D.root[k]).filter(x => x[0] <= s && s < x[1]));
        }
        counted.add(k);
    }
    const each = spans.map(union), taken = each.reduce((a, b) => a + b, 0), foot = make(table, "tfoot");
    const total = (what, bytes, all, name, attrs) => {
        const line = make(foot, "tr");
        make(line, "td", {}, what);
        make(line, "td", {class: "n", ...attrs}, comma(bytes));
        make(line, "td", {colspan: 2}, all ? "of " + comma(all) + " B" + name + ", " + (100 * bytes / all).toFixed(1)
            + "\u00a0%" : "");
    };
    total(set.length + " alive", taken, D.arena[state.plan], several ? " in all memories" : rams > 1 ? " "
        + D.memories[0] : "", {id: "live-sum", "data-bytes": sum, "data-taken": taken});
    if (several)
        D.ram.forEach((m, k) => total("in " + D.memories[m], each[k], D.used[state.plan][m], " " + D.memories[m],
            {"data-mem": m}));
    if (taken < sum)
        make(make(foot, "tr"), "td", {colspan: 4, class: "keys"}, comma(sum) + " B are alive; " + comma(sum - taken)
            + " B of them lie over bytes of another tensor (striped in the map).");
}

// ------------------------------------------------------------------ the tensor

function showTensor() {
    const out = el("tensor-view"), i = state.tensor;
    out.replaceChildren();
    pic.classList.toggle("picking", i >= 0);
    pic.querySelectorAll(".sel,.near").forEach(g => g.classList.remove("sel", "near"));
    if (i < 0) {
        make(out, "p", {class: "keys"}, "Click a tensor for its producer and consumers.");
        return;
    }
    const from = D.producer[i];
    for (let j = 0; j < N; j++) // what its producer reads, what its consumers make
        if (group[j] && ((from >= 0 && D.readers[j].includes(from))
            || (D.producer[j] >= 0 && D.readers[i].includes(D.producer[j]))))
            group[j].classList.add("near");
    if (hasShape(i))
        shapeOf(i).classList.add("sel");
    named(make(out, "h2"), D.name[i]);
    const list = make(out, "dl");
    const row = (k, v) => {
        make(list, "dt", {}, k);
        return make(list, "dd", {}, v);
    };
    if (D.type[i])
        row("type", D.type[i]);
    row("bytes", comma(D.bytes[i]) + (D.bytes[i] < KIB ? "" : "  (" + size(D.bytes[i]) + ")"));
    row("address", place(i) + range(i));
    row("steps", D.first[i] + " to " + D.last[i]);
    if (D.traffic.length && D.item[i] >= 0)
        row("traffic", comma(D.traffic[D.item[i]]) + " B in a run");
    if (D.alias[i])
        row(D.how[i] || "shares", "of " + shortOf(D.alias[i]));
    const p = row("producer", "");
    if (from >= 0)
        link(p, opOf(from), () => pickStep(from));
    else
        p.textContent = D.kind[i] === "in" ? "graph input" : D.kind[i] === "state" ? "state" : "-";
    const c = row("consumers", "");
    D.readers[i].forEach(s => {
        link(c, opOf(s), () => pickStep(s));
        make(c, "br");
    });
    if (D.kind[i] === "out")
        c.append("graph output");
}

function pickStep(s) {
    state.step = s < 0 || !(s >= 0) ? -1 : clamp(s, 0, D.steps - 1);
    showStep();
    bands();
    markGraph();
    saveLink();
}

function pickTensor(i) {
    const before = state.tensor;
    state.tensor = i;
    showTensor();
    if (far && before !== i)
        draw(); // shows the shape, however small it is
    bands();
    markGraph();
    saveLink();
}

// ------------------------------------------------------------------ planners and what takes less

const radioOf = []; // by planner

function pickPlan(k) {
    state.plan = k;
    radioOf[k].checked = true;
    pic.classList.add("slide");
    setTimeout(() => pic.classList.remove("slide"), 500);
    tables.tensors.rows.forEach((row, i) => {
        if (D.item[i] >= 0)
            row.querySelector(".at").textContent = range(i);
    });
    showFigures();
    fit();
    showStep();
    showTensor();
}

// Planners of equal size share a line; the first line has this plan.
function showPlanners() {
    const set = make(el("planners"), "fieldset"), lines = new Map();
    make(set, "legend", {}, several ? "Planners, all memories" : "Planners");
    D.planners.map((_, k) => k).sort((a, b) => D.arena[a] === D.arena[0] ? D.arena[b] === D.arena[0] ? a - b : -1
        : D.arena[b] === D.arena[0] ? 1 : D.arena[a] - D.arena[b] || a - b).forEach(k => {
        if (!lines.has(D.arena[k])) {
            const line = make(set, "div", {class: "planner"});
            lines.set(D.arena[k], make(line, "span", {class: "names"}));
            make(line, "span", {class: "n", "data-bytes": D.arena[k]}, comma(D.arena[k]) + " B");
            make(line, "span", {class: "n"}, lines.size > 1 ? percent(D.arena[k], D.arena[0]) : "");
        }
        const label = make(lines.get(D.arena[k]), "label");
        const radio = make(label, "input", {type: "radio", name: "planner", value: k});
        label.append(D.planners[k] + (k ? "" : ", this plan"));
        radio.checked = !k;
        radioOf[k] = radio;
        radio.onchange = () => pickPlan(k);
    });
}

function showLower() {
    if (!D.lower.length)
        return;
    make(el("lower"), "h2", {}, "To go lower");
    const body = make(make(el("lower"), "table"), "tbody");
    for (const x of D.lower) {
        const tr = make(body, "tr"), option = make(tr, "td");
        make(option, "code", {}, x.option);
        make(option, "div", {class: "keys"}, x.what);
        make(tr, "td", {class: "n"}, x.bytes < 0 ? "" : comma(x.bytes) + " B");
        make(tr, "td", {class: "n"}, x.bytes < 0 ? "" : percent(x.bytes, D.arena[0]));
    }
}

// The tensors with the most bytes in memory, without those that are bytes of others.
function showLargest() {
    const MOST = 12, own = D.root.filter((i, k) => D.size[k] > 0), total = D.arena[0] || 1;
    own.sort((a, b) => D.size[D.item[b]] - D.size[D.item[a]] || a - b);
    if (own.length < 2)
        return;
    make(el("largest"), "h2", {}, "Largest tensors");
    const body = make(make(el("largest"), "table"), "tbody");
    for (const i of own.slice(0, MOST)) {
        const tr = make(body, "tr", {"data-t": i});
        link(make(tr, "td"), D.short[i], () => pickTensor(i)).title = D.name[i];
        make(tr, "td", {class: "n"}, comma(D.size[D.item[i]]) + " B");
        make(tr, "td", {class: "n"}, (100 * D.size[D.item[i]] / total).toFixed(0) + " %");
        make(tr, "td", {class: "n"}, D.first[i] + "-" + D.last[i]);
    }
}

function showFigures() {
    const list = el("figures"), k = state.plan, bound = several ? D.bounds[k].reduce((a, b) => a + b, 0)
        : D.bound, gap = D.arena[k] - bound;
    list.replaceChildren();
    const figure = (name, value, note) => {
        const box = make(list, "div");
        make(box, "dt", {}, name);
        make(make(box, "dd", {}, value), "small", {}, note);
    };
    if (!several)
        figure("arena", comma(D.arena[k]) + " B", D.planners[k]);
    D.memories.forEach((name, m) => {
        if (several && D.ram.includes(m))
            figure(name, comma(D.used[k][m]) + " B", "lower bound " + comma(boundOf(m)) + " B");
        else if (m && D.used[k][m])
            figure(name, comma(D.used[k][m]) + " B", "memory " + m);
    });
    if (several)
        figure("all memories", comma(D.arena[k]) + " B", D.planners[k]);
    figure(several ? "lower bounds" : "lower bound", comma(bound) + " B", gap ? "gap " + percent(D.arena[k], bound)
        .slice(1) : "optimal");
    figure("without sharing", comma(D.no_sharing) + " B", D.arena[k] ? (D.no_sharing / D.arena[k]).toFixed(1)
        + " times" : "");
    if (!D.step_op.length)
        return;
    figure("weights", comma(D.weights) + " B", "read only");
    figure("code", "~ " + comma(D.code) + " B", D.target || "");
    figure("multiply-adds", count(D.macs), D.steps + " steps");
    const moved = D.step_traffic.reduce((a, b) => a + b, 0);
    figure("traffic", size(moved), "estimate");
}

// The keys of the picture as a list that wraps.
function showLegend() {
    for (const key of pic.querySelectorAll(".key")) {
        const li = make(el("legend"), "li"), svg = make(li, "svg", {width: 16, height: 11, "aria-hidden": "true"});
        const text = key.lastElementChild;
        li.append(text.textContent);
        [...key.children].forEach(e => e !== text && svg.append(e.cloneNode(true)));
    }
}

// ------------------------------------------------------------------ search

function search() {
    const q = el("search").value.trim().toLowerCase();
    let n = 0;
    for (let i = 0; i < N; i++) {
        const hit = q !== "" && (D.name[i] + " " + D.type[i]).toLowerCase().includes(q);
        n += hit;
        found[i] = hit;
        if (group[i])
            group[i].classList.toggle("hit", hit);
        tables.tensors.hidden[i] = q !== "" && !hit;
    }
    pic.classList.toggle("searching", q !== "");
    el("hits").textContent = q === "" ? "" : n + " of " + N;
    el("hits").dataset.count = n;
    fill(tables.tensors);
    if (far)
        draw();
}

function nextHit() {
    const hits = found.map((hit, i) => hit && hasShape(i) ? i : -1).filter(i => i >= 0);
    if (hits.length)
        pickTensor(hits[(hits.indexOf(state.tensor) + 1) % hits.length]);
}

function clear() {
    el("search").value = "";
    search();
    pickStep(-1);
    pickTensor(-1);
    hideCard();
}

// ------------------------------------------------------------------ the card at the pointer

function hideCard() {
    el("card").hidden = true;
}

function showCard(e, lines) {
    const card = el("card");
    card.replaceChildren();
    lines.forEach((text, k) => make(card, k ? "div" : "strong", {}, text));
    card.hidden = false;
    const box = card.getBoundingClientRect(), gap = 14;
    card.style.left = clamp(e.clientX + gap, 0, Math.max(0, innerWidth - box.width - 4)) + "px";
    card.style.top = (e.clientY + gap + box.height > innerHeight ? Math.max(0, e.clientY - gap - box.height)
        : e.clientY + gap) + "px";
}

function tensorLines(i) {
    const from = D.producer[i], some = D.readers[i].slice(0, 4), more = D.readers[i].length - some.length;
    const lines = [D.name[i], (D.type[i] ? D.type[i] + ", " : "") + comma(D.bytes[i]) + " B ("
        + (100 * D.bytes[i] / (D.used[state.plan][memOf(D.item[i])] || 1)).toFixed(1) + " % of "
        + (rams > 1 ? D.memories[memOf(D.item[i])] : "the arena") + ")", place(i) + range(i),
        "steps " + D.first[i] + " to " + D.last[i]];
    if (D.alias[i])
        lines.push((D.how[i] || "part") + " of " + shortOf(D.alias[i]));
    if (D.step_op.length)
        lines.push("from " + (from >= 0 ? opOf(from) : D.kind[i] === "in" ? "the caller" : D.kind[i]));
    if (some.length)
        lines.push("to " + some.map(opOf).join(", ") + (more > 0 ? " and " + more + " more" : ""));
    return lines;
}

// ------------------------------------------------------------------ the address

// #step=4&tensor=NAME&plan=bestfit&view=10-40&than=none&show=graph; what is not said is as at the beginning.
function saveLink() {
    clearTimeout(saveLink.waits);
    if (saveLink.ready)
        saveLink.waits = setTimeout(writeLink, 150); // browsers allow few changes a second
}

function writeLink() {
    const q = new URLSearchParams();
    if (state.step >= 0)
        q.set("step", state.step);
    if (state.tensor >= 0)
        q.set("tensor", D.name[state.tensor]);
    if (state.plan)
        q.set("plan", D.planners[state.plan]);
    if (view.t1 - view.t0 < D.steps)
        q.set("view", +view.t0.toFixed(2) + "-" + +view.t1.toFixed(2));
    if (state.than)
        q.set("than", state.than);
    if (!el("graph").hidden)
        q.set("show", "graph");
    try {
        history.replaceState(null, "", "#" + q);
    } catch { } // a page inside another one has no address
}

function followLink() {
    const q = new URLSearchParams(location.hash.slice(1));
    const plan = D.planners.indexOf(q.get("plan")), than = D.planners.indexOf(q.get("than"));
    const [t0, t1] = (q.get("view") || "").split("-").map(Number);
    saveLink.ready = false;
    if (Math.max(plan, 0) !== state.plan)
        pickPlan(Math.max(plan, 0));
    compareWith(than >= 0 ? q.get("than") : "");
    if (t1 > t0 && t0 >= 0 && t1 <= D.steps)
        Object.assign(view, {t0, t1});
    draw();
    showView(q.get("show") === "graph");
    pickTensor(D.name.indexOf(q.get("tensor")));
    pickStep(q.has("step") ? Math.floor(+q.get("step")) : q.has("tensor") ? -1 : D.peak);
    saveLink.ready = true;
}
