// lanes.js - what is by step and not by address, in the columns of the map: the curve of live bytes above it, bars of
// multiply-adds, weights and traffic below it, and, when it is zoomed, a small map of everything.
const CURVE = 74, LANE = 26, MINI = 46; // pixels
let usedOf = {plan: -1, each: []};

// Bytes in use in each step: of memory m, or of all that hold tensors.
function usedIn(m) {
    if (usedOf.plan !== state.plan)
        usedOf = {plan: state.plan, each: D.ram.map(k => usedBySteps(placed(k)))};
    return usedOf.each[D.ram.indexOf(m)];
}

function usedAll() {
    const [own, ...more] = D.ram.map(usedIn);
    return more.length ? own.map((b, s) => more.reduce((sum, x) => sum + x[s], b)) : own;
}

// The most of `value` in each pixel column, as the outline of an area of a height.
function outline(value, w, h, top) {
    const span = view.t1 - view.t0, cells = Math.min(Math.ceil(span), Math.ceil(w));
    let d = "M0 " + h;
    for (let c = 0; c < cells; c++) {
        const from = Math.floor(view.t0 + c * span / cells), to = Math.max(from + 1, view.t0 + (c + 1) * span / cells);
        let most = 0;
        for (let s = from; s < Math.min(to, D.steps); s++)
            most = Math.max(most, value(s));
        const x0 = cells === Math.ceil(span) ? px({w}, from) : c * w / cells;
        const x1 = cells === Math.ceil(span) ? px({w}, from + 1) : (c + 1) * w / cells;
        d += "L" + x0.toFixed(1) + " " + (h - h * most / top).toFixed(1) + "H" + x1.toFixed(1);
    }
    return d + "V" + h + "Z";
}

function strip(id, height, title) {
    el(id).replaceChildren();
    const svg = make(el(id), "svg", {viewBox: "0 0 " + width + " " + height, width, height, role: "img",
        "aria-label": title});
    svg.onclick = e => {
        const x = e.clientX - svg.getBoundingClientRect().x - LEFT;
        if (x >= 0)
            pickStep(Math.floor(view.t0 + x / panels[0].w * (view.t1 - view.t0)));
    };
    svg.onpointermove = e => {
        const x = e.clientX - svg.getBoundingClientRect().x - LEFT;
        const s = Math.floor(view.t0 + x / panels[0].w * (view.t1 - view.t0));
        if (x < 0 || s < 0 || s >= D.steps)
            hideCard();
        else
            showCard(e, stepLines(s));
    };
    svg.onpointerleave = hideCard;
    return svg;
}

// " (a 490, b 8,000)" where there are several memories.
const split = s => several ? " (" + D.ram.map(m => D.memories[m] + " " + comma(usedIn(m)[s])).join(", ") + ")" : "";
const aliveIn = s => comma(usedAll()[s]) + " B alive" + split(s) + (s === D.peak ? ", the peak" : "");
const stepLines = s => ["Step " + opOf(s), aliveIn(s),
    ...(D.step_op.length ? [comma(D.step_macs[s]) + " multiply-adds, " + comma(D.step_weights[s]) + " B of weights, "
        + comma(D.step_traffic[s]) + " B moved"] : []), ...(GANTT ? [threadOf(s) + ", " + shareOf(s)] : [])];

function inner(svg, y, h) {
    const p = panels[0];
    return make(svg, "svg", {x: p.x, y, width: p.w, height: h, class: "strip"});
}

function drawCurve() {
    const p = panels[0], bytes = usedAll(), most = D.arena[state.plan];
    const top = Math.max(most, D.bound, 1) * 1.06;
    const svg = strip("alive", CURVE + 8, "Bytes alive in each step" + (several ? ", in all memories" : "")
        + "; the most is " + comma(Math.max(...bytes)));
    make(svg, "rect", {class: "plot", x: p.x, y: 4, width: p.w, height: CURVE});
    const box = inner(svg, 4, CURVE);
    make(box, "path", {class: "live", d: outline(s => bytes[s], p.w, CURVE, top)});
    const y = CURVE - CURVE * most / top;
    make(box, "path", {class: "arena", d: "M0 " + y + "H" + p.w});
    make(box, "g", {class: "front"});
    const axis = make(svg, "g", {class: "ax", "text-anchor": "end"});
    make(axis, "text", {x: p.x - 7, y: 16}, "bytes alive");
    make(axis, "text", {x: p.x - 7, y: 30}, "of " + size(most));
    if (several)
        make(axis, "text", {x: p.x - 7, y: 44}, "all memories");
}

function drawBars() {
    const p = panels[0], rows = [["multiply-adds", D.step_macs, count], ["weights", D.step_weights, size],
        ["traffic", D.step_traffic, size]].filter(r => r[1].some(v => v > 0));
    el("lanes").replaceChildren();
    if (!rows.length)
        return;
    const svg = strip("lanes", rows.length * (LANE + 5), "Multiply-adds, weights and traffic of each step");
    rows.forEach(([title, value, text], k) => {
        let top = 1;
        for (const v of value)
            top = Math.max(top, v);
        make(svg, "rect", {class: "plot", x: p.x, y: k * (LANE + 5), width: p.w, height: LANE});
        const box = inner(svg, k * (LANE + 5), LANE);
        make(box, "path", {class: "bars", d: outline(s => value[s], p.w, LANE, top)});
        make(box, "g", {class: "front"});
        const axis = make(svg, "g", {class: "ax", "text-anchor": "end"});
        make(axis, "text", {x: p.x - 7, y: k * (LANE + 5) + 12}, title);
        make(axis, "text", {x: p.x - 7, y: k * (LANE + 5) + 24}, "to " + text(top));
    });
}

// Everything, small, with a frame around what the map shows.
function drawMini() {
    const p = panels[0], top = topOf(0);
    el("mini").replaceChildren();
    if (view.t1 - view.t0 >= D.steps && p.hi - p.lo >= top * .999)
        return;
    const svg = make(el("mini"), "svg", {viewBox: "0 0 " + width + " " + (MINI + 6), width, height: MINI + 6,
        role: "img", "aria-label": "The whole map; the frame is what is shown"});
    const w = p.w / D.steps, y = b => MINI * (1 - b / top);
    make(svg, "rect", {class: "plot", x: p.x, y: 3, width: p.w, height: MINI});
    make(svg, "image", {x: p.x, y: 3, width: p.w, height: MINI, preserveAspectRatio: "none",
        href: density(p.w, MINI, placed(0).map(({item, q}) =>
            [q[0] * w, y(q[3]), (q[1] - q[0]) * w, y(q[2]) - y(q[3]), colorOf(D.root[item])]))});
    make(svg, "rect", {class: "frame", x: p.x + view.t0 * w, y: 3 + y(p.hi),
        width: Math.max(4, (view.t1 - view.t0) * w), height: Math.max(4, y(p.lo) - y(p.hi))});
    svg.onpointerdown = svg.onpointermove = e => {
        if (!(e.buttons & 1))
            return;
        const t = (e.clientX - svg.getBoundingClientRect().x - p.x) / w, span = view.t1 - view.t0;
        view.t0 = clamp(t - span / 2, 0, D.steps - span);
        view.t1 = view.t0 + span;
        draw();
        saveLink();
    };
}

function markLanes() {
    for (const front of document.querySelectorAll("#alive .front,#lanes .front")) {
        front.replaceChildren();
        if (state.step >= 0)
            make(front, "rect", {class: "now", x: px(panels[0], state.step), y: 0, height: CURVE,
                width: Math.max(1.5, px(panels[0], 1) - px(panels[0], 0))});
    }
    markThreads();
}

function drawLanes() {
    drawCurve();
    drawBars();
    drawThreads();
    drawMini();
    markLanes();
}
