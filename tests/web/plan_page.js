// plan_page.js - uses the pages that tests/cli/page/page.sh has made. usage: node plan_page.js CHROMIUM FOLDER
// [AXE.js]
// Exit 1: something is wrong.
"use strict";
const fs = require("fs"), path = require("path");
const {browser} = require("./browser.js");
const [chromium, folder, axe] = process.argv.slice(2);
let wrong = 0;
const same = (what, got, want) => {
    if (JSON.stringify(got) !== JSON.stringify(want))
        wrong++, console.log(`WRONG ${what}: ${JSON.stringify(got)}, not ${JSON.stringify(want)}`);
};
const url = (name, hash = "") => "file://" + path.resolve(folder, name + ".html") + (hash && "#" + hash);
const report = name => JSON.parse(fs.readFileSync(path.join(folder, name + ".json")));
const wait = ms => new Promise(done => setTimeout(done, ms));
const text = selector => `document.querySelector(${JSON.stringify(selector)}).textContent`;
const list = selector => `[...document.querySelectorAll(${JSON.stringify(selector)})].map(e => e.textContent)`;
const spot = selector => `(() => { const e = document.querySelector(${JSON.stringify(selector)});
    e.scrollIntoView({block: "center"}); const b = e.getBoundingClientRect();
    return [b.x + b.width / 2, b.y + b.height / 2];
    })()`;
const hash = "decodeURIComponent(location.hash.replace(/\\+/g, ' '))";

async function card(p) {
    const j = report("branch"), i = j.tensors.findIndex(t => t.bytes > 500 && t.producer_step !== null
        && !t.alias && !j.tensors.some(o => o.alias_of === t.name));
    await p.move(...await p.evaluate(spot("#t" + i + " rect")));
    same("card shown", await p.evaluate("document.getElementById('card').hidden"), false);
    const said = await p.evaluate(text("#card"));
    for (const part of [j.tensors[i].name.split(";")[0], j.tensors[i].bytes.toLocaleString("en-US") + " B",
        "0x" + j.tensors[i].offset_bytes.toString(16) + "-", "from " + j.tensors[i].producer_step])
        same("card says " + part, said.includes(part), true);
    await p.move(2, 2);
    same("card hidden", await p.evaluate("document.getElementById('card').hidden"), true);
    await p.move(...await p.evaluate(spot("#alive .live")));
    same("card of the curve", /B alive/.test(await p.evaluate(text("#card"))), true);
}

async function sorting(p) {
    const j = report("branch"), bytes = j.tensors.map(t => t.bytes);
    const numbers = async () => (await p.evaluate(list("#rows td:nth-child(3)"))).map(s => +s.replace(/,/g, ""));
    const header = "#tensors th:nth-child(3) button";
    await p.click(...await p.evaluate(spot(header)));
    same("largest first", await numbers(), bytes.slice().sort((a, b) => b - a));
    same("said so", await p.evaluate("document.querySelector('#tensors th:nth-child(3)').ariaSort"), "descending");
    await p.key("Enter"); // the button has the focus
    same("smallest first", await numbers(), bytes.slice().sort((a, b) => a - b));
    await p.evaluate("document.getElementById('steps').closest('details').open = true");
    await p.click(...await p.evaluate(spot("#steps th:nth-child(4) button")));
    same("steps by live bytes", (await p.evaluate(list("#step-rows td:nth-child(4)"))).map(s => +s.replace(/,/g, "")),
        j.steps.map(s => s.live_bytes).sort((a, b) => b - a));
    await p.click(...await p.evaluate(spot("#steps th:nth-child(5) button")));
    same("steps by work", (await p.evaluate(list("#step-rows td:nth-child(5)"))).map(s => +s.replace(/,/g, "")),
        j.steps.map(s => s.macs).sort((a, b) => b - a));
}

// A fresh page has the keys, and after a search it has them again.
async function keys(b) {
    const j = report("branch"), p = await b.page(url("branch")), focus = "document.activeElement.id";
    const at = (what, step) => p.evaluate("state.step").then(is => same(what, is, step));
    await p.key("ArrowRight");
    await at("right, before any click", j.plan.peak_step + 1);
    await p.key("ArrowLeft");
    await p.key("ArrowUp");
    same("a tensor, before any click", await p.evaluate("state.tensor") >= 0, true);
    await p.key("/");
    same("/ goes to the search", await p.evaluate(focus), "search");
    await p.key("r");
    same("which takes the keys", await p.evaluate("el('search').value"), "r");
    await p.key("Escape");
    same("Esc clears it", await p.evaluate("el('search').value"), "");
    same("and leaves it", await p.evaluate(focus), "picture");
    await p.key("p");
    await at("the picture has the keys again", j.plan.peak_step);
    await p.evaluate("document.activeElement.blur()");
    await p.key("ArrowRight");
    await at("and where nothing has them", j.plan.peak_step + 1);
    await p.evaluate("scrollTo(0, 0)");
}

async function links(b, p) {
    const j = report("branch"), name = j.tensors[3].name;
    await p.evaluate("document.getElementById('picture').focus()");
    await p.key("p");
    await p.key("ArrowRight");
    await p.evaluate("pickTensor(3)");
    await p.click(...await p.evaluate(spot("#planners input[value='2']")));
    for (const key of ["+", "+"])
        await p.evaluate(`pic.dispatchEvent(new KeyboardEvent('keydown', {key: '${key}'}))`);
    await wait(400);
    const address = await p.evaluate(hash);
    for (const part of ["step=" + (j.plan.peak_step + 1), "tensor=" + name, "plan=", "view="])
        same("address has " + part, address.includes(part), true);
    const q = await b.page(await p.evaluate("location.href"));
    const place = "[state.step, state.tensor, state.plan, +view.t0.toFixed(1), +view.t1.toFixed(1)]";
    same("the same place", await q.evaluate(place), await p.evaluate(place));
    same("is selected", await q.evaluate("document.querySelector('.panel .sel').id"), "t3");
    same("in the list", await q.evaluate("document.querySelector('#planners :checked').value"), "2");
    same("a small map", await q.evaluate("document.querySelectorAll('#mini .frame').length"), 1);
    await q.evaluate("location.hash = ''");
    await wait(200);
    same("and back", await q.evaluate(place), [j.plan.peak_step, -1, 0, 0, j.steps.length]);
    same("no small map", await q.evaluate("document.querySelectorAll('#mini *').length"), 0);
}

async function beforeAndAfter(b) {
    const now = report("branch"), old = report("bestfit");
    const was = new Map(old.tensors.map(t => [t.name, t.offset_bytes]));
    const moved = now.tensors.filter(t => was.get(t.name) !== t.offset_bytes).length;
    const [before, after] = [old, now].map(j => j.plan.arena_bytes.toLocaleString("en-US"));
    for (const file of ["bestfit.html", "bestfit.json", "bestfit.lock"]) {
        const p = await b.page(url("branch"));
        await p.files("#than-file", [path.resolve(folder, file)]);
        await wait(300);
        same(file, await p.evaluate(text("#before h2")), `Compared with ${file}: `
            + `${before} B before, ${after} B now `
            + `(${(100 * (now.plan.arena_bytes / old.plan.arena_bytes - 1)).toFixed(1)} %)`);
        same("moved of " + file, (await p.evaluate(text("#changes"))).startsWith(moved + " moved of"), true);
        same("listed", await p.evaluate("document.querySelectorAll('#changed tbody tr').length"), moved);
    }
    const p = await b.page(url("branch", "than=bestfit"));
    same("another planner", /^Compared with bestfit/.test(await p.evaluate(text("#before h2"))), true);
    await p.files("#than-file", [path.resolve(folder, "many.csv")]);
    await wait(300);
    same("no plan", /holds no plan/.test(await p.evaluate(text("#before [role=alert]"))), true);
}

// Bytes of two tensors in one place count once, and are striped.
async function overlaps(b) {
    let striped = 0;
    for (const name of ["overlap", "dsnet"]) {
        const j = report(name), p = await b.page(url(name));
        for (let s = 0; s < j.steps.length; s++) {
            await p.evaluate(`pickStep(${s})`);
            const [sum, taken] = await p.evaluate("[+el('live-sum').dataset.bytes, +el('live-sum').dataset.taken]");
            same(`${name}: alive in step ${s}`, taken, j.steps[s].live_bytes);
            same(`${name}: step ${s} fits`, taken <= j.plan.arena_bytes && taken <= sum, true);
            same(`${name}: step ${s} in the curve`, await p.evaluate(`usedAll()[${s}]`), taken);
            const said = /lie over bytes/.test(await p.evaluate(text("#step-view")));
            same(`${name}: explained in step ${s}`, said, taken < sum);
            striped += taken < sum;
        }
        same(name + " is striped", await p.evaluate("document.querySelectorAll('.over rect').length") > 0, true);
    }
    same("some overlap", striped > 0, true);
}

async function memories(b) {
    const j = report("memories"), p = await b.page(url("memories"));
    same("two memories", j.memories.filter(m => m.bytes).length, 2);
    const scale = await p.evaluate("panels.map(p => (p.hi - p.lo) / p.h)");
    const ram = j.memories.filter(m => m.name !== "state"), all = ram.reduce((sum, m) => sum + m.bytes, 0);
    same("all memories", j.plan.arena_bytes, all);
    for (let s = 0; s < j.steps.length; s++) { // the list says what each memory has, and all of them
        await p.evaluate(`pickStep(${s})`);
        const each = ram.map(m => { // views and results in place are bytes of others
            const bytes = new Set();
            for (const t of j.tensors)
                for (let n = 0; n < t.bytes && t.memory === m.name && t.first_step <= s && s <= t.last_step; n++)
                    bytes.add(t.offset_bytes + n);
            return bytes.size;
        });
        const rows = await p.evaluate("[...document.querySelectorAll('#live [data-mem]')].map(e => e.textContent)");
        same(`step ${s} by memory`, rows, each.map(n => n.toLocaleString("en-US")));
        same(`step ${s} in all`, +await p.evaluate("el('live-sum').dataset.taken"), j.steps[s].live_bytes);
        same(`step ${s} in the curve`, await p.evaluate(`usedAll()[${s}]`), j.steps[s].live_bytes);
    }
    const figures = await p.evaluate(text("#figures")), planners = await p.evaluate(
        "Object.fromEntries([...document.querySelectorAll('.planner label')].map(e => [e.textContent"
        + ".split(',')[0], +e.closest('.planner').children[1].dataset.bytes]))");
    same("no sharing is planner none's", planners.none, j.plan.no_sharing_bytes);
    same("one figure without sharing", figures.includes(j.plan.no_sharing_bytes.toLocaleString("en-US")), true);
    for (const m of ram)
        same(`figures of ${m.name}`, figures.includes(m.name + m.bytes.toLocaleString("en-US") + " Blower bound "
            + m.lower_bound_bytes.toLocaleString("en-US")), true);
    const lines = await p.evaluate("panels.map(p => [...p.svg.querySelectorAll('line.bound,rect.peak')].length)");
    same("a bound and a peak in each panel", lines, [2, 2]);
    same("one scale", scale.length === 2 && Math.abs(scale[0] / scale[1] - 1) < 0.01, true);
}

// Of 10,000 rows only what can be seen has a shape; all others are in an image, and the pointer finds them there.
async function many(b) {
    const p = await b.page(url("many"), {dark: true});
    const shapes = "[...document.querySelectorAll('.panel .t')].filter(g => g.style.display !== 'none').map(g => g.id)";
    same("large ones are shapes", (await p.evaluate(shapes)).sort(), ["t0", "t1"]);
    same("the others an image", await p.evaluate("document.querySelectorAll('.panel image.small').length"), 1);
    same("few rows in the table", await p.evaluate("document.querySelectorAll('#rows tr').length"), 200);
    await p.evaluate("el('tensors').closest('details').open = true; tables.tensors.more.click()");
    same("all rows", await p.evaluate("document.querySelectorAll('#rows tr').length"), 10000);
    const [x, y] = await p.evaluate(`(() => { el("plot").scrollIntoView(); const b = pic.getBoundingClientRect();
        const q = panels[0], i = 6000;
        return [b.x + q.x + px(q, D.first[i] + .5), b.y + q.y + py(q, at(i) + D.bytes[i] / 2)]; })()`);
    await p.move(x, y);
    same("the card of one", /^t\d+/.test(await p.evaluate(text("#card"))), true);
    await p.evaluate("Object.assign(view, {t0: 6000, t1: 6040}); panels[0].lo = Math.max(0, at(6000) - 20000);"
        + "panels[0].hi = panels[0].lo + 60000; draw()");
    same("shapes when zoomed", (await p.evaluate(shapes)).length > 20, true);
    same("the page's own", p.console, []);
}

async function graph(b) {
    const j = report("branch"), p = await b.page(url("branch", "show=graph"));
    const ends = j.tensors.filter(t => ["input", "output"].includes(t.kind)).length;
    same("nodes", await p.evaluate("net.node.length"), j.steps.length + ends);
    same("no node over another", await p.evaluate(`net.node.every((a, i) => net.node.every((b, k) => i >= k
        || a.y !== b.y || Math.abs(a.x - b.x) >= NODE.w))`), true);
    same("edges go down", await p.evaluate("net.edge.every(e => net.node[e.from].y < net.node[e.to].y)"), true);
    const reads = new Set(j.tensors.flatMap(t => t.producer_step === null ? [] : t.consumer_steps.filter(s =>
        s > t.producer_step).map(s => t.producer_step + " " + s)));
    same("an edge for each reader", await p.evaluate("net.edge.filter(e => e.from < D.steps && e.to < D.steps).length"),
        reads.size);
    const peak = await p.evaluate("document.querySelector('.node.at-peak').ariaLabel");
    same("the peak is marked", peak.startsWith(`step ${j.plan.peak_step} ${j.steps[j.plan.peak_step].op}`), true);
    await p.click(...await p.evaluate(spot(".node[data-n='2']")));
    same("picked", await p.evaluate("state.step"), 2);
    await p.key("ArrowDown");
    await p.key("Enter");
    same("along an edge", await p.evaluate("state.step") > 2, true);
    await p.click(...await p.evaluate(spot("#show-map")));
    same("the map again", await p.evaluate("[el('graph').hidden, el('map').hidden]"), [true, false]);
}

// Modules are one node each until they are clicked; names end inside of their boxes; the overview has all nodes.
async function folded(b) {
    const p = await b.page(url("modules", "show=graph"));
    const fold = n => p.evaluate(`(e => { e.value = "${n}"; e.onchange({target: e}); })(el("fold"))`);
    same("can be folded", await p.evaluate("el('fold').offsetParent !== null"), true);
    same("all steps", await p.evaluate("net.node.length"), 11);
    await fold(2);
    same("three modules", await p.evaluate("net.node.map(n => [n.step, n.last])"),
        [[0, 2], [3, 5], [6, 8], [-1, null], [-1, null]]);
    same("edges go down", await p.evaluate("net.edge.every(e => net.node[e.from].y < net.node[e.to].y)"), true);
    same("the peak is marked", await p.evaluate("document.querySelectorAll('.module .peak-mark').length"), 1);
    await fold(1);
    same("one module", await p.evaluate("net.node.length"), 3);
    await p.click(...await p.evaluate(spot(".node.module")));
    same("unfolded", await p.evaluate("net.node.length"), 11);
    same("inside", await p.evaluate(`[...document.querySelectorAll("#graph .node text:not(.peak-mark)")].every(t =>
        t.getBoundingClientRect().right <= t.parentNode.querySelector("rect").getBoundingClientRect().right)`), true);
    same("overview", await p.evaluate("document.querySelectorAll('.over .dot').length > 1"), true);
    same("the page's own", p.console, []);
}

// Who does what: a bar for each thread that works on a step, in its phase; the chart follows the zoom of the map.
async function threads(b) {
    const j = report("threads"), t = j.threads, p = await b.page(url("threads"));
    const did = t.phases.flatMap(q => q.threads.map((on, k) => [q.first_step + k, on < 0 ? t.threads : 1]));
    same("bars", await p.evaluate("GANTT.bars.length"), did.reduce((n, [, k]) => n + k, 0));
    same("some steps at once", t.phases.some(q => q.threads.length > 1), true);
    same("phases", await p.evaluate("GANTT.phases.map(q => [q.first, q.last])"),
        t.phases.map(q => [q.first_step, q.last_step]));
    same("in their phases", await p.evaluate(`GANTT.bars.every(([k, s, from, to]) => { const q =
        GANTT.phases.find(q => q.first <= s && s <= q.last); return q.from <= from && to <= q.to; })`), true);
    same("one after the other", await p.evaluate(`GANTT.bars.every((a, i) => GANTT.bars.every((b, k) => i >= k
        || a[0] !== b[0] || b[2] >= a[3]))`), true);
    same("barriers", await p.evaluate("document.querySelectorAll('#threads .barrier').length"), t.phases.length);
    const [longest] = await p.evaluate("GANTT.bars.slice().sort((a, b) => b[3] - b[2] - a[3] + a[2])[0].slice(1, 2)");
    await p.click(...await p.evaluate(spot(`#threads [data-s='${longest}'] rect`)));
    same("a bar is picked", await p.evaluate("[state.step, document.querySelectorAll('#threads .sel').length]"),
        [longest, did[longest][1]]);
    same("said", await p.evaluate(text("#step-view")).then(s => /thread/.test(s) && /of the estimated time/.test(s)),
        true);
    const last = t.phases.at(-1);
    await p.evaluate(`Object.assign(view, {t0: ${last.first_step}, t1: ${last.last_step + 1}}); draw()`);
    same("zoomed", await p.evaluate("document.querySelectorAll('#threads .barrier').length"), 1);
    same("no chart of one thread", await (await b.page(url("branch"))).evaluate("el('threads').childElementCount"), 0);
    same("the page's own", p.console, []);
}

// Everything that does something has a name and is reached by Tab; nothing repeats an id.
async function reached(p) {
    same("names", await p.evaluate(`[...document.querySelectorAll("button,input,select,[tabindex],meter,svg[role]")]
        .filter(e => e.offsetParent !== null && !(e.ariaLabel || e.getAttribute("aria-labelledby")
        || (e.labels || []).length || e.textContent.trim())).map(e => e.outerHTML.slice(0, 80))`), []);
    same("ids", await p.evaluate(`(ids => ids.filter((id, k) => ids.indexOf(id) !== k))(
        [...document.querySelectorAll("[id]")].map(e => e.id))`), []);
    same("columns", await p.evaluate("document.querySelectorAll('th:not([scope])').length"), 0);
    await p.evaluate("document.body.tabIndex = -1; document.body.focus()");
    const seen = new Set();
    for (let k = 0; k < 40; k++) {
        await p.key("Tab");
        seen.add(await p.evaluate("document.activeElement.id || document.activeElement.name || ''"));
    }
    for (const id of ["search", "step", "than", "fit", "theme", "picture", "planner"])
        same("Tab reaches " + id, seen.has(id), true);
    await p.key("/");
    same("a slash searches", await p.evaluate("document.activeElement.id"), "search");
}

// What-if: the words of the command; with a tool around the page they are sent to it.
async function whatIf(b) {
    const p = await b.page(url("memories"));
    const command = "el('if-command').textContent";
    same("the command of this plan", await p.evaluate(command),
        "arenac plan branch_int8.tflite -t generic --mem fast:3K --mem slow:1M --emit html");
    const choose = (id, value) => p.evaluate(`(e => { e.value = "${value}"; e.onchange({target: e}); })(el("${id}"))`);
    await choose("if-stripe", "auto");
    await choose("if-align", "64");
    await choose("if-budget", "8K");
    same("other choices", await p.evaluate(command), "arenac plan branch_int8.tflite -t generic --mem fast:3K "
        + "--mem slow:1M --align 64 --stripe auto --budget 8K --emit html");
    await choose("if-stripe", "off");
    same("back", (await p.evaluate(command)).includes("stripe"), false);
}

// Logarithmic heights keep the order of addresses and give a giant less of the map; colours; files; the largest.
async function looks(b) {
    const p = await b.page(url("giant"));
    const high = id => p.evaluate(`el("${id}").querySelector("rect").getBoundingClientRect().height`);
    const at = await p.evaluate("D.root.map(i => [at(i), i]).sort((a, b) => a[0] - b[0])");
    same("beside a giant nothing is seen", await high("t1") < 2 && await high("t0") > 200, true);
    await p.evaluate("el('log').click()");
    same("with logarithms it is", await high("t1") > 20 && await high("t0") > 20, true);
    same("bytes of a height", await p.evaluate("panels.every(q => [0, 100, 5000].every(b => "
        + "Math.abs(bytesAt(q, q.y + py(q, b)) - b) < 1e-3 * (1 + b)))"), true);
    same("addresses rise", await p.evaluate(`${JSON.stringify(at)}.every(([a], k, all) => !k
        || py(panels[0], a) <= py(panels[0], all[k - 1][0]))`), true);
    same("the largest first", await p.evaluate("document.querySelector('#largest tr').dataset.t"), "0");
    const q = await b.page(url("branch"));
    await q.evaluate(`el("color").value = "type"; el("color").onchange({target: el("color")})`);
    same("one type", await q.evaluate("document.querySelector('#legend .by').textContent"), "i8");
    for (const by of ["lifetime", "layer"]) {
        await q.evaluate(`el("color").value = "${by}"; el("color").onchange({target: el("color")})`);
        same("a legend of " + by, await q.evaluate("document.querySelectorAll('#legend .by').length > 1"), true);
        same("colours of " + by, await q.evaluate(`new Set([...document.querySelectorAll(".panel .t rect")].map(e =>
            getComputedStyle(e).fill)).size > 1`), true);
    }
    same("an SVG file", await q.evaluate(`new DOMParser().parseFromString(mapText(), "image/svg+xml")
        .querySelectorAll("parsererror,.t").length > 5`), true);
    const drawn = await q.evaluate(`new Promise(done => { const save0 = HTMLAnchorElement.prototype.click;
        HTMLAnchorElement.prototype.click = function () { HTMLAnchorElement.prototype.click = save0;
            done(this.download + " " + this.href.slice(0, 22)); };
        el("save").value = "png"; el("save").onchange({target: el("save")}); })`);
    same("a PNG file", drawn, "branch_int8.png data:image/png;base64,");
    same("the page's own", [...p.console, ...q.console], []);
}

// 30,000 tensors: those of a whole map are an image, shapes come when it is zoomed.
async function tens(b) {
    const p = await b.page(url("tens"));
    same("the page's own", p.console, []);
    same("few elements", await p.evaluate("document.querySelectorAll('*').length < 4000"), true);
    same("drawn", await p.evaluate("document.querySelectorAll('.panel image.small').length"), 1);
    const ms = await p.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd");
    same("it appears in less than 15 s on a busy machine", ms < 15000, true);
}

async function narrow(b) {
    for (const width of [360, 2200]) {
        const p = await b.page(url("branch"), {width, height: 800});
        const fits = await p.evaluate("document.documentElement.scrollWidth <= innerWidth");
        same("nothing sticks out at " + width, fits, true);
        const used = await p.evaluate("pic.getBoundingClientRect().right + (innerWidth > 1000 ? 500 : 40)");
        same("the width of " + width + " is used", used >= width, true);
    }
}

// axe's rules for what screen readers and eyes need: nothing serious, in both themes, on the map and in the graph.
async function accessible(b) {
    const places = [["overlap", "than=none", false], ["overlap", "tensor=image", true],
        ["overlap", "show=graph", false], ["overlap", "show=graph", true], ["threads", "step=6", false],
        ["threads", "step=6", true]];
    for (const [name, hash, dark] of places) {
        const p = await b.page(url(name, hash), {dark});
        await p.evaluate(fs.readFileSync(axe, "utf8") + ";0");
        const found = await p.evaluate(`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations
            .filter(v => v.impact !== "minor").map(v => v.id + ": " + v.nodes[0].html))`);
        same("axe, " + hash + (dark ? ", dark" : ""), found, []);
    }
}

(async () => {
    const b = await browser(chromium, path.join(folder, "profile"));
    const p = await b.page(url("branch"));
    await card(p);
    await sorting(p);
    await reached(p);
    await links(b, p);
    await keys(b);
    for (const part of [beforeAndAfter, overlaps, memories, many, tens, looks, whatIf, graph, folded, threads, narrow,
        ...axe ? [accessible] : []])
        await part(b);
    same("console", p.console, []);
    same("fetched", p.requests.filter(u => !/^(file|data):/.test(u)), []);
    await b.close();
    console.log(wrong ? `${wrong} wrong` : "the page holds");
    process.exit(wrong ? 1 : 0);
})().catch(e => { console.log(e.stack); process.exit(1); });
