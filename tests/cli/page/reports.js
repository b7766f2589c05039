// reports.js - drives the page of a plan; J is its JSON report. reports.sh puts it after the page.
const wrong = [], same = (what, got, want) => { if (got !== want) wrong.push(what + ": " + got + ", not " + want); };
const byId = id => document.getElementById(id);
const text = t => t.name + " " + (t.dtype ? t.dtype + " [" + t.shape + "]" : "");
const event = (e, type, more) =>
    e.dispatchEvent(new MouseEvent(type, Object.assign({bubbles: true, cancelable: true}, more)));
const clickOn = e => {
    const b = e.getBoundingClientRect();
    event(e, "click", {clientX: b.x + b.width / 2, clientY: b.y + b.height / 2});
};
const loaded = performance.now();
try {
    const tensors = J.tensors;
    for (const q of ["", "i8", "a", "relu", "[1,", "script", "\"", "zzz", tensors[0].name, "\ufffd"]) {
        byId("search").value = q;
        byId("search").dispatchEvent(new Event("input"));
        const want = q.trim() ? tensors.filter(t => text(t).toLowerCase().includes(q.trim().toLowerCase())).length : 0;
        same("hits of " + q, +byId("hits").dataset.count, want);
        same("marked " + q, document.querySelectorAll(".panel .hit").length, want);
    }
    byId("search").value = "";
    byId("search").dispatchEvent(new Event("input"));
    let clicked = 0;
    const last = Math.max(...tensors.map(t => t.last_step));
    for (let s = 0; s <= last; s++) {
        const tick = [...document.querySelectorAll("#x > text")].find(e => e.textContent === "" + s);
        if (tick) { clickOn(tick); clicked++; }
        else { byId("step").value = s; byId("step").dispatchEvent(new Event("input")); }
        const rows = [...document.querySelectorAll("#live tbody tr")];
        const got = rows.map(r => +r.dataset.t).sort((a, b) => a - b).join();
        const lives = t => t.memory && t.first_step <= s && s <= t.last_step;
        same("live set of step " + s, got, tensors.map((t, i) => (lives(t) ? i : -1)).filter(i => i >= 0).join());
        if (J.steps.length) same("live bytes of step " + s, +byId("live-sum").dataset.taken, J.steps[s].live_bytes);
    }
    same("steps clicked", clicked > 0, true);
    let chosen = 0;
    for (let i = 0; i < tensors.length; i += Math.ceil(tensors.length / 20)) {
        const shape = document.querySelector("#t" + i + " rect");
        if (!shape || !shape.getBoundingClientRect().width) continue; // too small to be drawn among so many
        chosen++;
        clickOn(shape);
        same("selected", document.querySelector(".panel .sel").id, "t" + i);
        same("producer lit", document.querySelectorAll("#m0 .from").length, tensors[i].producer_step === null ? 0 : 1);
        same("consumers lit", document.querySelectorAll("#m0 .to").length, tensors[i].consumer_steps.length);
        same("shown", byId("tensor-view").querySelector("h2").textContent, tensors[i].name);
    }
    same("some chosen", chosen > 3, true);
    const radios = [...document.querySelectorAll("#planners input")].sort((a, b) => a.value - b.value);
    const bytes = {};
    for (const p of J.plan.strategies) bytes[p.strategy] = p.arena_bytes;
    for (const [k, radio] of radios.entries()) {
        radio.click();
        const name = byId("figures").querySelector("small").textContent;
        const said = +byId("figures").querySelector("dd").firstChild.textContent.replace(/\D/g, "");
        same("arena of " + name, said, k ? bytes[name] : J.plan.arena_bytes);
        same("and in the list", +radio.closest(".planner").querySelector("[data-bytes]").dataset.bytes, said);
    }
    radios[0].click();
    tensors.forEach((t, i) => {
        const cell = document.querySelector("#r" + i + " .at");
        if (cell) same("address of " + t.name, cell.textContent.split("-")[0], "0x" + t.offset_bytes.toString(16));
    });
    for (const key of ["+", "+", "ArrowRight", "ArrowUp", "ArrowDown", "p", "-", "0", "Home", "End"])
        byId("picture").dispatchEvent(new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true}));
    same("step after End", +byId("step").value, last);
    byId("theme").click();
    same("things fetched", performance.getEntriesByType("resource").length, 0);
} catch (e) { wrong.push(e.stack); }
clearTimeout(saveLink.waits);
document.body.innerHTML = "<pre id=verdict></pre>";
byId("verdict").textContent =
    wrong.length ? "WRONG " + wrong.slice(0, 10).join("\n") : "ALL RIGHT " + Math.round(loaded) + " ms";
