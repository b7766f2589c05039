// map.js - the map: x is the step, y the address, a panel for each memory, all in one scale. draw() brings the picture
// in line with `state`, `view` and the addresses that each panel shows; nothing else touches the shapes.
//
// With many rows, a shape is drawn where it is large enough to be seen; all others are in an image below, each of whose
// pixels has the mean colour of the bytes and steps in it.
const LEFT = 86, RIGHT = 10, LEAST = 6; // pixels; shapes that are smaller belong to the image
// The first step after the loss, in training: where the band of the image begins.
function turnOf(svg) {
    const band = svg.querySelector(".band");
    return band ? Math.round(band.getAttribute("x") / svg.getAttribute("width") * D.steps) : D.steps;
}

const panels = [...pic.querySelectorAll("svg.panel")].map((svg, k) => ({
    svg, mem: +svg.id.slice(1), x: LEFT, y: 0, w: 0, h: 0, lo: 0, hi: D.top[k], turn: turnOf(svg),
}));
const group = D.name.map((_, i) => el("t" + i)); // the shape of a row, once there is one
const found = []; // by row: the search has found it
const px = (p, t) => (t - view.t0) / (view.t1 - view.t0) * p.w;
const py = (p, b) => p.h * (1 - (up(p, b) - up(p, p.lo)) / (up(p, p.hi) - up(p, p.lo)));
let width = 0, dark = false; // of the picture; as it is drawn

// Colours as in page.css, for the image of small shapes; light and dark.
const isDark = () => (document.documentElement.dataset.theme
    || (matchMedia("(prefers-color-scheme:dark)").matches ? "dark" : "light")) === "dark";
const COLORS = [{in: [47, 174, 138], out: [240, 168, 48], state: [213, 143, 181], scratch: [240, 228, 66],
    kept: [184, 164, 227], again: [240, 140, 90]},
    {in: [29, 107, 85], out: [138, 90, 16], state: [122, 69, 98], scratch: [107, 99, 20],
        kept: [85, 66, 138], again: [143, 74, 38]}];
const TINTS = [[[140, 196, 230], [106, 174, 216], [176, 216, 239]], [[45, 95, 128], [36, 79, 110], [58, 111, 146]]];
const colorOf = i => paint ? paint(i) : COLORS[+dark][D.role[i] || D.kind[i]] || TINTS[+dark][i % 3];

const hasShape = i => D.item[i] >= 0 && (D.root[D.item[i]] === i ? D.size[D.item[i]] : D.bytes[i]) > 0;

// The shape of a row; those too small to be seen come into being here. As put_tensor in svg.c.
function shapeOf(i) {
    if (group[i])
        return group[i];
    const root = D.root[D.item[i]] === i, tint = root && D.kind[i] === "act" ? ["", " b", " c"][i % 3] : "";
    const g = group[i] = make(panels[0].svg, "g", {id: "t" + i, class: "t " + D.kind[i] + tint
        + (root ? D.role[i] ? " " + D.role[i] : "" : " alias") + (found[i] ? " hit" : "")});
    pieces(i).forEach(() => make(g, "rect"));
    g.remove(); // draw() puts it into its panel
    return g;
}

// The highest address that a panel shows: its memory's, or more, so that all have one scale.
function topOf(k) {
    const used = D.used[state.plan];
    const own = Math.max(D.top[k], (used[panels[k].mem] + 1) * 33 / 32);
    const sum = panels.reduce((n, p, i) => n + Math.max(D.top[i], (used[p.mem] + 1) * 33 / 32), 0);
    return panels.length > 1 ? Math.max(own, sum * 20 / tallest()) : own;
}


// All panels together: as much as fits into the window below the curve, with the axis.
function tallest() {
    const AXIS = 125, TITLE = 26, top = el("alive").getBoundingClientRect().top + scrollY + CURVE + 8;
    return clamp(innerHeight - top - AXIS - TITLE * (panels.length - 1), 260, 900);
}

// Sizes of the panels by the width of the page.
function layout() {
    width = Math.max(300, el("plot").clientWidth);
    const tops = panels.map((_, k) => topOf(k)), all = tops.reduce((a, b) => a + b, 0);
    let y = 8;
    panels.forEach((p, k) => {
        y += panels.length > 1 ? 18 : 0;
        Object.assign(p, {y, w: width - LEFT - RIGHT, h: Math.max(20, tallest() * tops[k] / all)});
        p.hi = p.hi > tops[k] ? tops[k] : p.hi;
        for (const e of [p.svg, el("y" + p.mem).firstElementChild])
            for (const key of ["x", "y", "width", "height"])
                e.setAttribute(key, {x: p.x, y: p.y, width: p.w, height: p.h}[key]);
        const title = el("n" + p.mem);
        if (title)
            title.setAttribute("y", y - 5);
        y += p.h + 8;
    });
}

// As put_label in svg.c. x, y, w, h: the visible part of the widest rectangle.
function fitName(i, room) {
    return D.short[i].length <= room ? D.short[i] : "";
}

function label(g, i, x, y, w, h) {
    const across = h >= 14 && w > 8 ? fitName(i, Math.floor((w - 6) / 6)) : "";
    const up = w >= 14 && h > 8 ? fitName(i, Math.floor((h - 8) / 6)) : "";
    const bytes = size(D.bytes[i]);
    const flat = (text, dy, c) => make(g, "text", {x: x + 4, y: y + dy, class: c}, text);
    const upright = text => make(g, "text", {"text-anchor": "end",
        transform: "translate(" + (x + w / 2 + 4) + " " + (y + 5) + ")rotate(-90)"}, text);
    if (across && (across.length >= up.length || w >= 72)) {
        flat(across, 12, "");
        if (h >= 30 && bytes.length * 6 + 6 <= w)
            flat(bytes, 25, "s");
    } else if (up) {
        upright(up);
    } else if (h >= 14 && bytes.length * 6 + 4 <= w) {
        flat(bytes, 12, "");
    } else if (w >= 14 && bytes.length * 6 + 8 <= h) {
        upright(bytes);
    }
}

function drawTensor(p, i) {
    const k0 = D.item[i], stop = D.root[k0] === i ? D.label_end[k0] : D.steps;
    const list = pieces(i), kept = found[i] || i === state.tensor;
    let best = null, seen = false;
    const boxes = list.map(q => {
        const x = px(p, q[0]), w = px(p, q[1]) - x, y = py(p, q[3]), h = py(p, q[2]) - y;
        const on = x < p.w && x + w > 0 && y < p.h && y + h > 0;
        seen = seen || (on && (!far || kept || (w >= LEAST && h >= LEAST)));
        return [x, h < 1 ? y + h - 1 : y, w, Math.max(h, 1)];
    });
    if (!seen) {
        if (group[i])
            group[i].style.display = "none";
        return false;
    }
    const g = shapeOf(i), rects = g.children;
    g.style.display = "";
    if (paint)
        g.style.setProperty("--paint", "rgb(" + paint(i) + ")");
    if (g.parentNode !== p.svg)
        p.svg.insertBefore(g, p.svg.querySelector(".over"));
    boxes.forEach(([x, y, w, h], k) => {
        const r = rects[k];
        r.setAttribute("x", x);
        r.setAttribute("y", y);
        r.setAttribute("width", w);
        r.setAttribute("height", h);
        const l = Math.max(x, 0), u = Math.max(y, 0), q = list[k];
        const right = Math.min(stop > q[0] ? px(p, stop) : x + w, x + w, p.w);
        const box = [l, u, right - l, Math.min(y + h, p.h) - u];
        if (!best || box[2] > best[2])
            best = box;
    });
    if (D.labelled[i] && best[2] > 0 && best[3] > 0)
        label(p.svg.querySelector(".labels"), i, ...best);
    return true;
}

// An image of w x h pixels: boxes [x, y, w, h, color] in pixels, each pixel with the mean of what covers it.
function density(w, h, boxes) {
    w = Math.max(1, Math.round(w));
    h = Math.max(1, Math.round(h));
    const sum = new Float32Array(w * h * 4);
    for (const [bx, by, bw, bh, color] of boxes) {
        const x0 = Math.max(0, bx), x1 = Math.min(w, bx + bw), y0 = Math.max(0, by), y1 = Math.min(h, by + bh);
        for (let y = Math.floor(y0); y < y1; y++) {
            const part = Math.min(y + 1, y1) - Math.max(y, y0);
            for (let x = Math.floor(x0); x < x1; x++) {
                const c = part * (Math.min(x + 1, x1) - Math.max(x, x0)), o = (y * w + x) * 4;
                sum[o] += c * color[0];
                sum[o + 1] += c * color[1];
                sum[o + 2] += c * color[2];
                sum[o + 3] += c;
            }
        }
    }
    const canvas = document.createElement("canvas");
    canvas.width = w;
    canvas.height = h;
    const context = canvas.getContext("2d"), image = context.createImageData(w, h), to = image.data;
    for (let o = 0; o < sum.length; o += 4) {
        const c = sum[o + 3] || 1;
        to[o] = sum[o] / c;
        to[o + 1] = sum[o + 1] / c;
        to[o + 2] = sum[o + 2] / c;
        to[o + 3] = 255 * Math.min(1, sum[o + 3]);
    }
    context.putImageData(image, 0, 0);
    return canvas.toDataURL();
}

// What lies below the shapes: holes (free bytes below something alive), small tensors, padding, the peak.
function drawBack(p, drawn) {
    const back = p.svg.querySelector(".back"), pads = p.svg.querySelector(".pads"), over = p.svg.querySelector(".over");
    const cells = Math.min(D.steps, Math.ceil(p.w)), top = new Float64Array(cells), boxes = [];
    const all = placed(p.mem), span = view.t1 - view.t0;
    for (const e of [back, pads, over])
        e.replaceChildren();
    if (p.turn < D.steps)
        make(back, "rect", {class: "band", x: px(p, p.turn), y: 0, width: Math.max(0, px(p, D.steps) - px(p, p.turn)),
            height: p.h});
    for (const {item, q} of all) {
        const x = px(p, q[0]), w = px(p, q[1]) - x, y = py(p, q[3]);
        const last = Math.min(cells, Math.ceil((q[1] - view.t0) / span * cells));
        for (let c = Math.max(0, Math.floor((q[0] - view.t0) / span * cells)); c < last; c++)
            top[c] = Math.max(top[c], q[3]);
        if (far && !drawn.has(item))
            boxes.push([x, y, w, py(p, q[2]) - y, colorOf(D.root[item])]);
    }
    D.root.forEach((_, k) => {
        const end = D.offsets[state.plan][k] + D.size[k], padded = Math.ceil(end / D.align[k]) * D.align[k];
        const y = py(p, padded), h = py(p, end) - y, x = px(p, D.begin[k]), w = px(p, D.end[k]) - x;
        if (memOf(k) === p.mem && D.size[k] && h >= 0.5 && w >= 1)
            make(pads, "rect", {fill: "url(#hatch)", x, y, width: w, height: h});
    });
    let d = "M0 " + py(p, 0);
    top.forEach((b, c) => { d += "V" + py(p, b).toFixed(1) + "H" + ((c + 1) * p.w / cells).toFixed(1); });
    make(back, "path", {class: "hole", d: d + "V" + py(p, 0)});
    if (boxes.length)
        make(back, "image", {class: "small", width: p.w, height: p.h, preserveAspectRatio: "none",
            href: density(p.w, p.h, boxes)});
    for (const q of overlapsOf(all)) {
        const x = px(p, q[0]), y = py(p, q[3]), w = px(p, q[1]) - x, h = py(p, q[2]) - y;
        if (x < p.w && x + w > 0 && w >= 1 && h >= 1)
            make(over, "rect", {fill: "url(#weave)", x, y, width: w, height: h});
    }
    if (peakOf(p.mem) >= 0 && D.ram.includes(p.mem))
        make(back, "rect", {class: "peak", x: px(p, peakOf(p.mem)), y: 0, width: Math.max(2, px(p, 1) - px(p, 0)),
            height: p.h});
}

function drawLines(p) {
    for (const [c, b] of [["bound", boundOf(p.mem)], ["budget", D.budget]]) {
        const e = p.svg.querySelector("line." + c);
        if (e)
            for (const [key, v] of [["x2", p.w], ["y1", py(p, b)], ["y2", py(p, b)]])
                e.setAttribute(key, v);
    }
}

// The columns of the step and of the producer and consumers of the tensor.
function drawFront(p) {
    const front = p.svg.querySelector(".front") || make(p.svg, "g", {class: "front"});
    front.replaceChildren();
    const band = (s, c) => make(front, "rect", {class: c, x: px(p, s) + .7, y: .7, width: Math.max(1.5, px(p,
        s + 1) - px(p, s) - 1.4), height: Math.max(1, p.h - 1.4)});
    if (state.step >= 0)
        band(state.step, "now");
    if (state.tensor < 0)
        return;
    if (D.producer[state.tensor] >= 0)
        band(D.producer[state.tensor], "from");
    D.readers[state.tensor].forEach(s => band(s, "to"));
}

function drawY(p) {
    const g = el("y" + p.mem);
    if (logs) {
        drawEdges(p, g);
        return;
    }
    let unit = 1;
    while ((p.hi - p.lo) / unit > Math.max(1, p.h / 40))
        unit *= 2;
    const scale = unit >= MIB ? MIB : unit >= KIB / 2 ? KIB : 1;
    const name = scale > KIB ? " MiB" : scale > 1 ? " KiB" : " B";
    [...g.children].slice(1).forEach(e => e.remove());
    for (let b = Math.ceil(p.lo / unit) * unit; b < p.hi; b += unit) {
        const y = p.y + py(p, b);
        make(g, "path", {class: "grid", d: "M" + p.x + " " + y + "h" + p.w});
        make(g, "text", {x: p.x - 7, y: y + 4}, b / scale + name);
    }
}

function drawX() {
    const g = el("x"), p = panels[0], low = panels[panels.length - 1], y = low.y + low.h;
    const column = px(p, 1) - px(p, 0), title = g.lastElementChild, names = D.step_op.length && column >= 13;
    let every = 1;
    const room = 12 + 7 * String(D.steps).length;
    for (let k = 0; column * every < room && every < 1e9; k++)
        every = k % 3 === 1 ? every / 2 * 5 : every * 2;
    pic.setAttribute("viewBox", "0 0 " + width + " " + (y + (names ? 112 : 26)));
    g.replaceChildren();
    const begin = Math.max(0, Math.floor(view.t0)), by = names ? 1 : every;
    for (let s = names ? begin : Math.ceil(begin / every) * every; s < Math.min(D.steps, view.t1); s += by) {
        const x = p.x + px(p, s + .5), c = s === D.peak ? " r" : "";
        if (x < p.x || x > p.x + p.w)
            continue;
        if (s % every === 0)
            make(g, "text", {"text-anchor": "middle", x, y: y + 15, class: c}, s);
        if (names && D.step_op[s]) {
            const t = make(g, "text", {class: "op" + c, "text-anchor": "end",
                transform: "translate(" + (x + 4) + " " + (y + 28) + ")rotate(-45)"}, D.step_op[s].split(" ")[0]);
            make(t, "title", {}, opOf(s));
        }
    }
    title.setAttribute("x", LEFT - 7);
    title.setAttribute("y", y + 15);
    g.append(title);
}

function draw() {
    const drawn = new Set();
    dark = isDark();
    layout();
    panels.forEach(p => p.svg.querySelector(".labels").replaceChildren());
    D.name.forEach((_, i) => {
        if (!hasShape(i))
            return;
        const p = panels.find(q => q.mem === memOf(D.item[i])) || panels[0];
        if (drawTensor(p, i) && D.root[D.item[i]] === i)
            drawn.add(D.item[i]);
    });
    panels.forEach(p => {
        p.svg.classList.remove("far");
        drawBack(p, drawn);
        drawLines(p);
        drawY(p);
        drawFront(p);
    });
    drawX();
    drawLanes();
    drawBefore();
}

function bands() {
    panels.forEach(drawFront);
    markLanes();
}

// ------------------------------------------------------------------ zoom and move

function fit() {
    Object.assign(view, {t0: 0, t1: D.steps});
    panels.forEach((p, k) => Object.assign(p, {lo: 0, hi: topOf(k)}));
    draw();
    saveLink();
}

// Zoom by `f` around a point of the picture; axes: 1 steps, 2 addresses, 3 both.
function zoom(f, x, y, axes) {
    const p = panels.find(q => y >= q.y && y <= q.y + q.h) || panels[0];
    const top = topOf(panels.indexOf(p));
    if (axes & 1) {
        const span = clamp((view.t1 - view.t0) * f, Math.min(2, D.steps), D.steps);
        const t = view.t0 + (x - p.x) / p.w * (view.t1 - view.t0);
        view.t0 = clamp(t - (x - p.x) / p.w * span, 0, D.steps - span);
        view.t1 = view.t0 + span;
    }
    if (axes & 2) {
        const span = clamp((p.hi - p.lo) * f, Math.min(16, top), top);
        const b = bytesAt(p, y);
        p.hi = clamp(b + (y - p.y) / p.h * span, span, top);
        p.lo = p.hi - span;
    }
    draw();
    saveLink();
}

function pan(dx, dy, p) {
    const top = topOf(panels.indexOf(p));
    const dt = clamp(-dx / p.w * (view.t1 - view.t0), -view.t0, D.steps - view.t1);
    const db = clamp(dy / p.h * (p.hi - p.lo), -p.lo, Math.max(0, top - p.hi));
    view.t0 += dt;
    view.t1 += dt;
    p.lo += db;
    p.hi += db;
    draw();
}

function zoomMiddle(f) {
    const p = panels[0], s = state.step;
    zoom(f, s < 0 ? p.x + p.w / 2 : p.x + clamp(px(p, s + .5), 0, p.w), p.y + p.h, 1);
    zoom(f, p.x, p.y + p.h, 2);
}
