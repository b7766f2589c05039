// page.js - drives the page of scripts/web.sh: a model is dropped, options change, it is run and compiled; figures and
// bytes are compared with the native tool's. usage: node page.js CHROMIUM PAGE.html ARENAC MODELS FOLDER
// FOLDER gets a profile, page.png and page-dark.png. Exit 1: something is wrong.
"use strict";
const fs = require("fs"), path = require("path"), {spawnSync} = require("child_process");
const {browser} = require("./browser.js");
const [chromium, page, arenac, models, folder] = process.argv.slice(2);
const url = "file://" + path.resolve(page);
let wrong = 0;
const same = (what, got, want) => {
    if (JSON.stringify(got) !== JSON.stringify(want))
        wrong++, console.log(`WRONG ${what}: ${JSON.stringify(got)}, not ${JSON.stringify(want)}`);
};

function native(args) {
    const at = fs.mkdtempSync(path.join(folder, "native"));
    for (const f of args.filter(a => fs.existsSync(path.join(models, a))))
        fs.cpSync(path.join(models, f), path.join(at, f), {recursive: true});
    const r = spawnSync(path.resolve(arenac), args, {cwd: at});
    return {out: r.stdout.toString(), read: name => fs.readFileSync(path.join(at, name)).toString()};
}

const planned = (...args) => {
    const n = native(["plan", ...args, "-q", "--emit", "json", "-o", "p.json"]);
    return JSON.parse(n.read("p.json"));
};

// In the page: files as a drop gives them.
const drop = files => `(async () => {
    const t = new DataTransfer(), files = ${JSON.stringify(files)};
    for (const name of Object.keys(files))
        t.items.add(new File([Uint8Array.from(atob(files[name]), c => c.charCodeAt(0))], name));
    const e = new DragEvent("drop", {dataTransfer: t, bubbles: true, cancelable: true});
    document.body.dispatchEvent(e);
    await new Promise(done => setTimeout(done, 200));
})()`;
const coded = names => Object.fromEntries(names.map(n =>
    [n, fs.readFileSync(path.join(models, n)).toString("base64")]));
const settled = `(async () => {
    await arenac.ready;
    for (let i = 0; i < 1200 && document.getElementById("busy").textContent; i++)
        await new Promise(done => setTimeout(done, 50));
    return arenac.json && arenac.json.plan.arena_bytes;
})()`;
const set = (id, value) => `(() => { const e = document.getElementById("${id}");
    if (e.type === "checkbox") e.checked = ${JSON.stringify(value)}; else e.value = ${JSON.stringify(value)};
    e.dispatchEvent(new Event("change", {bubbles: true})); })()`;
const text = id => `document.getElementById("${id}").textContent`;

(async () => {
    const b = await browser(chromium, path.join(folder, "profile"));
    const p = await b.page(url);
    await p.evaluate("document.getElementById('sample').click()"); // while the tool still lists its targets
    await p.evaluate("arenac.ready");
    same("targets", await p.evaluate("document.getElementById('target').length"),
        native(["targets"]).out.trim().split("\n").length);

    // A model by the sample, one by a drop, one of two files: the arena, the bound, the report.
    await p.evaluate("document.getElementById('sample').click()");
    const sample = planned("branch_int8.tflite");
    same("arena", await p.evaluate(settled), sample.plan.arena_bytes);
    same("report", await p.evaluate(text("report")), native(["plan", "branch_int8.tflite", "-v", "-q"]).out);
    const shown = await p.evaluate(text("figures"));
    for (const n of [sample.plan.arena_bytes, sample.plan.lower_bound_bytes, sample.model.macs])
        same("figure " + n, shown.includes(n.toLocaleString("en-US")), true);
    const less = await p.evaluate("[...document.querySelectorAll('#less tbody tr')].map(r => [r.cells[0].textContent, "
        + "+r.cells[1].textContent.replace(/\\D/g, '')])");
    same("something takes less", less.length > 0, true);
    for (const [options, bytes] of less)
        same("with " + options, bytes, planned("branch_int8.tflite", ...options.split(" ")).plan.arena_bytes);
    await p.screenshot(path.join(folder, "page.png"));
    same("page of the plan", await p.evaluate("new Promise(done => setTimeout(() => done("
        + "document.getElementById('page').contentDocument.querySelectorAll('.panel .t').length > 5), 500))"), true);

    // What takes less is used; the target changes; a budget is missed.
    await p.evaluate("document.querySelector('#less button').click()");
    same("used", await p.evaluate(settled), less[0][1]);
    await p.evaluate(set("target", "cortex-m4"));
    const m4 = planned("branch_int8.tflite", "-t", "cortex-m4", ...less[0][0].split(" "));
    same("for cortex-m4", await p.evaluate(settled), m4.plan.arena_bytes);
    await p.evaluate(set("budget", "1K"));
    await p.evaluate(settled);
    same("over the budget", /E0401/.test(await p.evaluate(text("messages"))), true);
    await p.evaluate(set("budget", ""));
    await p.evaluate(settled);

    // A control of the plan's page plans here.
    await p.evaluate(`(d => { const e = d.getElementById("if-schedule"); e.value = "search"; e.onchange(); })(
        document.getElementById("page").contentDocument)`);
    await p.evaluate("new Promise(done => setTimeout(done, 300))");
    await p.evaluate(settled);
    same("a control of the page", await p.evaluate("document.getElementById('schedule').value"), "search");
    same("its command", /--schedule search/.test(await p.evaluate(text("command"))), true);
    await p.evaluate(set("schedule", ""));
    await p.evaluate(settled);

    // Run by the evaluator, compiled to C: what the native tool writes.
    await p.evaluate(set("target", "generic"));
    await p.evaluate(settled);
    await p.evaluate("document.getElementById('run').click()");
    await p.evaluate(settled);
    const options = less[0][0].split(" ");
    same("run", await p.evaluate(text("result")), native(["run", "branch_int8.tflite", ...options, "-t", "generic",
        "--backend", "eval", "--random", "1"]).out);
    await p.evaluate("document.getElementById('compile').click()");
    await p.evaluate(settled);
    const c = native(["compile", "branch_int8.tflite", ...options, "--emit", "c,h", "-o", "branch_int8"]);
    same("C", await p.evaluate(text("code")), c.read("branch_int8.c"));
    same("files", await p.evaluate("[...document.querySelectorAll('#written a')].map(a => a.download)"),
        ["branch_int8.c", "branch_int8.h"]);

    await p.evaluate(set("stripe", ""));
    await p.evaluate(settled);
    for (const files of [["squares.caffemodel", "squares.prototxt"], ["gate.ag"], ["tf_rnn.pbtxt"]]) {
        await p.evaluate(drop(coded(files)));
        const args = [...files].sort((x, y) => /(caffemodel|params)$/.test(x) - /(caffemodel|params)$/.test(y));
        same(args.join(" "), await p.evaluate(settled), planned(...args).plan.arena_bytes);
    }
    await p.evaluate(drop(coded(["dense-0000.params", "dense-symbol.json"])));
    same("dimensions that are not known", await p.evaluate(settled), null);
    same("are named", /--dim data\.0/.test(await p.evaluate(text("messages"))), true);
    await p.evaluate(set("more", "--dim data.0=2 --dim data.1=3 --dim data.2=4"));
    same("and given", await p.evaluate(settled), planned("dense-symbol.json", "dense-0000.params", "--dim", "data.0=2",
        "--dim", "data.1=3", "--dim", "data.2=4").plan.arena_bytes);
    await p.evaluate(set("more", ""));
    await p.evaluate(settled);
    await p.evaluate(drop({"broken.tflite": Buffer.from("no model").toString("base64")}));
    same("a broken model has no plan", await p.evaluate(settled), null);
    same("and a message", /error\[E/.test(await p.evaluate(text("messages"))), true);

    await b.close();

    const night = await browser(chromium, path.join(folder, "profile-dark"));
    const dark = await night.page(url, {dark: true});
    await dark.files("#files", [path.resolve(models, "dsnet_int8.tflite")]);
    await dark.evaluate("new Promise(done => setTimeout(done, 300))");
    same("chosen", await dark.evaluate(settled), planned("dsnet_int8.tflite").plan.arena_bytes);
    await dark.screenshot(path.join(folder, "page-dark.png"));
    for (const q of [p, dark]) {
        same("fetched", q.requests.filter(u => !/^(file|blob|data|about):/.test(u)), []);
        same("console", q.console, []);
    }
    await night.close();
    console.log(wrong ? `${wrong} wrong` : "the page holds");
    process.exit(wrong ? 1 : 0);
})().catch(e => { console.log(e.stack); process.exit(1); });
