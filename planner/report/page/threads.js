// threads.js - with --threads: a Gantt chart below the lanes, a row for each thread, estimated time to the right, lines
// where all threads wait for each other. It shows the phases of the steps that the map shows.
const ROW = 16, MOST_ROWS = 16; // as in threads.c
const GANTT = D.threads ? gantt() : null;

// Bars as [thread, step, from, to], and where each phase begins and ends, in the units of the estimate.
function gantt() {
    const {threads, on, end, time, fork} = D.threads, bars = [], phases = [];
    for (let s = 0, at = 0; s < D.steps; s = end[s]) {
        const busy = new Array(threads).fill(at);
        for (let i = s; i < end[s]; i++)
            for (let k = 0; k < threads; k++)
                if (on[i] < 0 || on[i] === k)
                    bars.push([k, i, busy[k], busy[k] += time[i]]);
        const forks = end[s] - s > 1 || on[s] < 0;
        phases.push({first: s, last: end[s] - 1, from: at, to: at = Math.max(...busy) + (forks ? fork : 0)});
    }
    return {bars, phases, total: phases.at(-1).to};
}

const threadOf = s => !D.threads ? "" : D.threads.on[s] < 0 ? "all threads, a chunk each" : "thread "
    + D.threads.on[s];
const shareOf = s => (100 * D.threads.time[s] / (GANTT.total || 1)).toFixed(1) + " % of the estimated time";

function drawThreads() {
    el("threads").replaceChildren();
    if (!GANTT)
        return;
    const shown = GANTT.phases.filter(p => p.last >= view.t0 && p.first < view.t1);
    const from = shown[0].from, to = shown.at(-1).to, rows = Math.min(D.threads.threads, MOST_ROWS);
    const p = panels[0], x = t => (t - from) / (to - from || 1) * p.w, h = rows * ROW;
    const svg = make(el("threads"), "svg", {viewBox: "0 0 " + width + " " + (h + 24), width, height: h + 24,
        role: "img", "aria-label": "What " + D.threads.threads + " threads do, estimated "
            + D.threads.gain.toFixed(2) + " times as fast as one"});
    make(svg, "text", {class: "s", x: p.x, y: 13}, "threads, estimated time; lines are barriers");
    const axis = make(svg, "g", {class: "ax", "text-anchor": "end"});
    for (let k = 0; k < rows; k++)
        make(axis, "text", {x: p.x - 7, y: 20 + k * ROW + 12}, String(k));
    const box = make(svg, "svg", {x: p.x, y: 20, width: p.w, height: h, class: "strip"});
    make(box, "rect", {class: "plot", width: p.w, height: h});
    const thin = new Array(rows).fill(""); // bars without a pixel of their own, one area for each thread
    for (const [k, s, a, b] of GANTT.bars) {
        const w = x(b) - x(a), y = k * ROW + 1;
        if (k >= rows || a < from || b > to)
            continue;
        if (w < 1) {
            thin[k] += "M" + x(a).toFixed(1) + " " + y + "h" + Math.max(w, .1).toFixed(1) + "v" + (ROW - 2) + "H"
                + x(a).toFixed(1) + "Z";
            continue;
        }
        const g = make(box, "g", {class: "job" + (s % 2 ? " b" : ""), "data-s": s});
        make(g, "rect", {x: x(a).toFixed(1), y, width: w.toFixed(1), height: ROW - 2});
        if (w > 8 * String(s).length + 4)
            make(g, "text", {x: (x(a) + 2).toFixed(1), y: y + 11}, String(s));
    }
    for (const d of thin.filter(d => d))
        make(box, "path", {class: "job", d});
    if (shown.length < p.w / 3)
        for (const {to: t} of shown)
            make(box, "path", {class: "barrier", d: "M" + x(t).toFixed(1) + " 0v" + h});
    const stepAt = e => {
        const k = Math.floor((e.clientY - box.getBoundingClientRect().y) / ROW);
        const t = from + (e.clientX - svg.getBoundingClientRect().x - p.x) / p.w * (to - from);
        const bar = GANTT.bars.find(b => b[0] === k && b[2] <= t && t < b[3]);
        return bar ? bar[1] : -1;
    };
    svg.onclick = e => pickStep(stepAt(e));
    svg.onpointermove = e => stepAt(e) < 0 ? hideCard() : showCard(e, stepLines(stepAt(e)));
    svg.onpointerleave = hideCard;
    markThreads();
}

function markThreads() {
    for (const g of document.querySelectorAll("#threads .job[data-s]"))
        g.classList.toggle("sel", +g.dataset.s === state.step);
}
