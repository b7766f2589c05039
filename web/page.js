// page.js - the page around the tool: files in, options, figures, what would take less, a run, files out. Every command
// is the tool's own, in a worker that ends with it; the page reads the tool's JSON and shows the tool's pages.
"use strict";
const byId = id => document.getElementById(id);
const bytesOf = text => Uint8Array.from(atob(text.trim()), c => c.charCodeAt(0));
const state = {files: {}, model: [], working: new Set(), turn: 0, json: null};
window.arenac = state; // for tests, and for the curious

// ------------------------------------------------------------------ the tool

const workerUrl = URL.createObjectURL(new Blob([byId("worker").textContent], {type: "text/javascript"}));
const wasm = new Response(new Blob([bytesOf(byId("wasm").textContent)]).stream()
    .pipeThrough(new DecompressionStream("gzip"))).arrayBuffer().then(b => WebAssembly.compile(b));

// One command; what tool.js says of it. stop() ends all of the model that are at work: their promises stay open.
async function tool(args, files = state.files) {
    const worker = new Worker(workerUrl);
    if (Object.keys(files).length) // what the tool lists of itself goes on
        state.working.add(worker);
    try {
        return await new Promise(async (done, failed) => {
            worker.onmessage = e => done(e.data);
            worker.onerror = e => failed(new Error(e.message));
            worker.postMessage({wasm: await wasm, args, files});
        });
    } finally {
        worker.terminate();
        state.working.delete(worker);
    }
}

function stop() {
    for (const worker of state.working)
        worker.terminate();
    state.working.clear();
    state.turn++;
    busy("");
}

function busy(what) {
    byId("busy").textContent = what;
    byId("stop").hidden = !what;
}

// ------------------------------------------------------------------ files

const WEIGHTS = /\.(caffemodel|params)$/i;
const KINDS = [/\.(tflite|onnx|prototxt|ag|csv)$/i, /symbol\.json$/i, /\.(pb|pbtxt|json)$/i];

// The model among the files that were dropped, and the file of its weights; a folder with a SavedModel is its name.
function modelOf(paths) {
    const saved = paths.find(p => /(^|\/)saved_model\.pb(txt)?$/.test(p));
    if (saved)
        return [saved.includes("/") ? saved.slice(0, saved.lastIndexOf("/")) : "."];
    const kind = KINDS.find(k => paths.some(p => k.test(p)));
    const model = kind ? paths.find(p => kind.test(p)) : paths.find(p => !WEIGHTS.test(p)) || paths[0];
    return [model, ...paths.filter(p => p !== model && WEIGHTS.test(p)).slice(0, 1)];
}

async function entries(item, folder, into) {
    if (item.isFile) {
        const file = await new Promise((done, failed) => item.file(done, failed));
        into[folder + file.name] = new Uint8Array(await file.arrayBuffer());
        return;
    }
    const reader = item.createReader();
    for (;;) {
        const some = await new Promise((done, failed) => reader.readEntries(done, failed));
        if (!some.length)
            return;
        for (const e of some)
            await entries(e, folder + item.name + "/", into);
    }
}

function open(files) {
    if (!Object.keys(files).length)
        return;
    state.files = files;
    state.model = modelOf(Object.keys(files).sort());
    byId("work").hidden = false;
    update();
}

async function openList(list) {
    const files = {};
    for (const f of list)
        files[f.webkitRelativePath || f.name] = new Uint8Array(await f.arrayBuffer());
    open(files);
}

addEventListener("dragover", e => { e.preventDefault(); document.body.classList.add("over"); });
addEventListener("dragleave", e => { if (!e.relatedTarget) document.body.classList.remove("over"); });
addEventListener("drop", async e => {
    e.preventDefault();
    document.body.classList.remove("over");
    const items = [...e.dataTransfer.items].map(i => i.webkitGetAsEntry && i.webkitGetAsEntry()).filter(Boolean);
    if (!items.length)
        return openList(e.dataTransfer.files);
    const files = {};
    for (const i of items)
        await entries(i, "", files);
    open(files);
});
byId("files").addEventListener("change", e => openList(e.target.files));
byId("sample").addEventListener("click", () => {
    const sample = byId("sample-model");
    open({[sample.dataset.name]: bytesOf(sample.textContent)});
});

// ------------------------------------------------------------------ options

// The words of a command line: quotes keep spaces.
const words = text => [...text.matchAll(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g)].map(m => m[0].replace(/["']/g, ""));
const SWITCHES = [["stripe", ["--stripe", "auto"]], ["schedule", ["--schedule", "search"]],
    ["overlap", ["--overlap", "on"]], ["recompute", ["--recompute"]], ["rows", ["--io", "rows"]]];

const isOn = id => { const e = byId(id); return e.type === "checkbox" ? e.checked : e.value !== ""; };

function options() {
    const list = byId("target").value && byId("target").value !== "generic" ? ["-t", byId("target").value] : [];
    for (const [id, option] of SWITCHES)
        if (isOn(id))
            list.push(...option);
    if (byId("budget").value.trim())
        list.push("--budget", byId("budget").value.trim());
    return [...list, ...words(byId("more").value)];
}

// Sets the controls to these words: "-t", "cortex-m4", "--stripe", "auto". Words without a control go to the text
// field.
function setOptions(list) {
    const rest = [];
    byId("budget").value = "";
    for (const [id] of SWITCHES)
        if (byId(id).type === "checkbox")
            byId(id).checked = false;
        else
            byId(id).value = "";
    for (let i = 0; i < list.length; i++) {
        const at = SWITCHES.find(([, option]) => option.every((word, k) => word === list[i + k]));
        if (list[i] === "-t" || list[i] === "--target")
            byId("target").value = list[++i];
        else if (list[i] === "--budget")
            byId("budget").value = list[++i];
        else if (at && byId(at[0]).type === "checkbox")
            byId(at[0]).checked = true;
        else if (at)
            byId(at[0]).value = at[1].at(-1);
        else
            rest.push(list[i]);
        i += at ? at[1].length - 1 : 0;
    }
    byId("more").value = plain(rest);
}

// The controls of the plan's page (planner/report/page/whatif.js).
addEventListener("message", e => {
    if (e.source !== byId("page").contentWindow || e.data?.arenac !== "plan" || !Array.isArray(e.data.options))
        return;
    setOptions(e.data.options.filter(word => typeof word === "string" && word));
    update();
});

const plain = list => list.map(w => /^[\w./:=,@+-]+$/.test(w) ? w : "'" + w + "'").join(" ");

// ------------------------------------------------------------------ the plan

const thousands = n => n.toLocaleString("en-US");
const KIB = 1024;
const size = n => n < 10 * KIB ? thousands(n) + " B" : (n / KIB < 10 * KIB ? (n / KIB).toFixed(1) + " KiB"
    : (n / KIB / KIB).toFixed(1) + " MiB");

function say(text, bad) {
    byId("messages").hidden = !text;
    byId("messages").textContent = text;
    byId("messages").className = bad ? "" : "notes";
}

function figure(name, value, note) {
    const box = document.createElement("div"), dt = document.createElement("dt"), dd = document.createElement("dd");
    dt.textContent = name;
    dd.textContent = value;
    if (note) {
        const small = document.createElement("small");
        small.textContent = note;
        dd.append(small);
    }
    box.append(dt, dd);
    byId("figures").append(box);
}

function showFigures(j) {
    const p = j.plan, m = j.model;
    byId("figures").replaceChildren();
    figure("RAM, arena", size(p.arena_bytes), thousands(p.arena_bytes) + " B");
    figure("Lower bound", size(p.lower_bound_bytes), p.optimal ? "the plan is optimal"
        : "gap " + (100 * (p.arena_bytes / p.lower_bound_bytes - 1)).toFixed(1) + " %");
    figure("Without sharing", size(p.no_sharing_bytes), p.arena_bytes
        ? (p.no_sharing_bytes / p.arena_bytes).toFixed(1) + " times as much" : "");
    if (!m || m.operators === undefined)
        return;
    figure("ROM, weights", size(m.weight_bytes), m.constants + " constants");
    figure("Code", "~ " + size(m.code_bytes_estimate), "estimate for " + m.target + ", " + m.kernels + " kernels");
    figure("Multiply-adds", thousands(m.macs), m.operators + " operators, " + m.format);
}

// Plans with one more switch, all at once: those that take less.
async function showLess(arena, turn) {
    const body = byId("less").querySelector("tbody"), tried = [];
    body.replaceChildren();
    byId("less").hidden = true;
    await Promise.all(SWITCHES.filter(([id]) => !isOn(id)).map(async ([id, option]) => {
        const r = await tool(["plan", ...state.model, ...options(), ...option, "-q", "--emit", "json", "-o",
            "less.json"]);
        const json = r.files["less.json"];
        if (turn !== state.turn || !json)
            return;
        const bytes = JSON.parse(new TextDecoder().decode(json)).plan?.arena_bytes;
        if (bytes < arena)
            tried.push({id, option, bytes});
    }));
    if (turn !== state.turn)
        return;
    for (const t of tried.sort((a, b) => a.bytes - b.bytes || (a.id < b.id ? -1 : 1))) {
        const row = body.insertRow();
        row.insertCell().textContent = plain(t.option);
        row.insertCell().textContent = thousands(t.bytes) + " B";
        row.insertCell().textContent = (100 * (t.bytes / arena - 1)).toFixed(1) + " %";
        row.cells[1].className = row.cells[2].className = "n";
        const use = document.createElement("button");
        use.type = "button";
        use.textContent = "Use";
        use.addEventListener("click", () => {
            const e = byId(t.id);
            if (e.type === "checkbox")
                e.checked = true;
            else
                e.value = t.option[1];
            update();
        });
        row.insertCell().append(use);
    }
    byId("less").hidden = !tried.length;
}

function showInputs(j) {
    const body = byId("inputs").querySelector("tbody");
    body.replaceChildren();
    (j.tensors || []).filter(t => t.kind === "input").forEach((t, i) => {
        const row = body.insertRow(), file = document.createElement("input");
        file.type = "file";
        file.accept = ".npy";
        file.dataset.input = i;
        file.setAttribute("aria-label", "values of " + t.name);
        row.insertCell().textContent = t.name;
        row.insertCell().textContent = t.dtype + " [" + t.shape + "]";
        row.insertCell().append(file);
    });
}

async function update() {
    stop();
    const turn = state.turn, before = plain([...state.model, ...options()]);
    state.json = null;
    document.title = state.model[0] + " - arenac";
    byId("command").textContent = "arenac plan " + before;
    busy("planning");
    const r = await tool(["plan", ...state.model, ...options(), "--emit", "json,html,md", "-o", "plan"]);
    if (turn !== state.turn)
        return;
    const text = name => r.files[name] ? new TextDecoder().decode(r.files[name]) : "";
    const j = text("plan.json") ? JSON.parse(text("plan.json")) : {};
    say(r.err, r.status !== 0);
    byId("report").textContent = "";
    if (!j.plan) {
        byId("figures").replaceChildren();
        byId("less").hidden = true;
        byId("page").srcdoc = "";
        busy("");
        return;
    }
    showFigures(j);
    showInputs(j);
    byId("page").srcdoc = text("plan.html").replace("<body>", "<body data-tool>");
    state.json = j;
    busy("comparing options");
    byId("report").textContent = (await tool(["plan", ...state.model, ...options(), "-q", "-v"])).out;
    if (turn !== state.turn)
        return;
    await showLess(j.plan.arena_bytes, turn);
    if (turn === state.turn)
        busy("");
}

// ------------------------------------------------------------------ run and compile

function offer(where, files) {
    for (const a of where.querySelectorAll("a"))
        URL.revokeObjectURL(a.href);
    where.replaceChildren(...Object.keys(files).sort().map(path => {
        const a = document.createElement("a");
        a.href = URL.createObjectURL(new Blob([files[path]]));
        a.download = path.slice(path.lastIndexOf("/") + 1);
        a.textContent = path + " (" + thousands(files[path].length) + " B)";
        return a;
    }));
}

// Commands at work together; what tool() says of each.
async function commands(what, list, files) {
    const turn = state.turn;
    busy(what);
    const all = await Promise.all(list.map(args => tool(args, files)));
    if (turn === state.turn)
        busy("");
    return all;
}

byId("run").addEventListener("click", async () => {
    const files = {...state.files}, args = [];
    for (const input of byId("inputs").querySelectorAll("input")) {
        if (!input.files.length)
            continue;
        const path = "input" + input.dataset.input + ".npy";
        files[path] = new Uint8Array(await input.files[0].arrayBuffer());
        args.push("--input", input.dataset.input + "=" + path);
    }
    const chosen = options().filter((w, i, all) => w !== "--budget" && all[i - 1] !== "--budget");
    const target = chosen.includes("-t") ? [] : ["-t", "generic"];
    const run = ["run", ...state.model, ...chosen, ...target, "--backend", "eval", "--random",
        byId("seed").value || "1", ...args];
    const [shown, written] = await commands("running", [run, [...run, "--output-dir", "outputs"]], files);
    byId("result").textContent = shown.out + shown.err;
    offer(byId("outputs"), written.files);
});

byId("compile").addEventListener("click", async () => {
    const stem = state.model[0].split("/").pop().replace(/\.[^.]*$/, "").replace(/\W/g, "_") || "model";
    const kind = byId("kind").value;
    const [r] = await commands("compiling", [["compile", ...state.model, ...options(), "--emit", kind, "-o", stem]]);
    const first = Object.keys(r.files).sort()[0];
    say(r.err, r.status !== 0);
    byId("code").textContent = first && !r.files[first].includes(0) ? new TextDecoder().decode(r.files[first]) : "";
    offer(byId("written"), r.files);
});

// ------------------------------------------------------------------ the frame

const panels = [...document.querySelectorAll("[data-tab]")];
function show(panel) {
    panels.forEach(p => {
        p.hidden = p !== panel;
        p.tab.setAttribute("aria-selected", p === panel);
        p.tab.tabIndex = p === panel ? 0 : -1;
    });
}
panels.forEach((p, i) => {
    p.tab = document.createElement("button");
    p.id = "panel" + i;
    p.tab.type = "button";
    p.tab.textContent = p.dataset.tab;
    p.tab.id = "tab" + i;
    p.tab.setAttribute("role", "tab");
    p.tab.setAttribute("aria-controls", p.id);
    p.setAttribute("role", "tabpanel");
    p.setAttribute("aria-labelledby", p.tab.id);
    p.tab.addEventListener("click", () => show(p));
    p.tab.addEventListener("keydown", e => {
        const by = {ArrowRight: 1, ArrowLeft: panels.length - 1}[e.key];
        if (!by)
            return;
        const next = panels[(i + by) % panels.length];
        show(next);
        next.tab.focus();
    });
    byId("tabs").append(p.tab);
});
show(panels[0]);
byId("options").addEventListener("change", update);
byId("options").addEventListener("submit", e => e.preventDefault());
byId("stop").addEventListener("click", stop);

// What the tool itself lists: targets, and kinds of output.
state.ready = (async () => {
    const targets = (await tool(["targets"], {})).out.split("\n").filter(Boolean);
    byId("target").replaceChildren(...targets.map(line => new Option(line.split(/\s/)[0])));
    for (const kind of ["c,h,selftest", "cu,h", "ag", "svg", "html", "md", "json", "csv", "dot", "lock", "tflite"])
        byId("kind").append(new Option(kind));
})();
