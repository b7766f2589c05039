// graph.js - the model as a graph, laid out in layers by Sugiyama's method: the layer of a step is its longest way from
// the inputs; long edges go through a point in each layer between; the order in a layer comes from sweeps of medians
// (Gansner et al., A technique for drawing directed graphs, 1993); x from the mean of the neighbours, kept apart.
//
// A node is a step, a graph input or a graph output. Only what is in the window is in the page. Cost: sweeps times
// edges and points; an edge over more than FAR layers gets no points and runs at the side.
const NODE = {w: 158, h: 46, gapX: 26, gapY: 40, point: 12}, SWEEPS = 12, FAR = 40;
let net = null; // {node, edge, width, height}
let fold = 0; // parts of a name that make a module; 0: each step is a node
const unfolded = new Set(); // first steps of modules that are shown step by step

const moduleAt = s => D.step_name[s].split(";")[0].split("/").slice(0, -1).slice(0, fold).join("/");

// Steps that are a node together, as [first, last]: steps of one module without others between them, so that no edge
// goes back.
function runs() {
    const list = [];
    D.step_op.forEach((_, s) => {
        const last = list.at(-1);
        if (fold && last && moduleAt(s) && moduleAt(s) === moduleAt(last[0]) && !unfolded.has(last[0])
            && !unfolded.has(s))
            last[1] = s;
        else
            list.push([s, s]);
    });
    return list;
}

// Nodes and edges of the rows: {id, step to last or row, from, to, layer, x, y, w}.
function graphOf() {
    const node = runs().map(([step, last]) => ({step, last, row: -1, in: [], out: [], layer: 0, w: NODE.w}));
    const edge = [], best = new Map(), of = [], own = node.length;
    node.forEach((n, k) => {
        for (let s = n.step; s <= n.last; s++)
            of[s] = k;
    });
    const add = (from, to, row) => {
        const key = from + " " + to, old = best.get(key);
        if (old && D.root[D.item[old.row]] !== old.row) // a view, which says more than what it is a view of
            return;
        if (old) {
            old.row = row;
            return;
        }
        const e = {from, to, row, points: []};
        best.set(key, e);
        edge.push(e);
    };
    D.name.forEach((_, i) => {
        if (D.item[i] < 0)
            return;
        let from = D.producer[i] >= 0 ? of[D.producer[i]] : -1;
        if (from < 0 && (D.kind[i] === "in" || D.kind[i] === "state") && !D.alias[i])
            from = node.push({step: -1, row: i, in: [], out: [], layer: 0, w: NODE.w}) - 1;
        if (from < 0)
            return;
        for (const s of D.readers[i])
            if (of[s] > from || from >= own)
                add(from, of[s], i);
        if (D.kind[i] === "out")
            add(from, node.push({step: -1, row: i, in: [], out: [], layer: 0, w: NODE.w}) - 1, i);
    });
    for (const e of edge) {
        node[e.from].out.push(e);
        node[e.to].in.push(e);
    }
    return {node, edge};
}

// Longest way from the inputs, by a walk in topological order; inputs then go down to just above their first reader.
function layers(g) {
    const waits = g.node.map(n => n.in.length), ready = g.node.map((_, i) => i).filter(i => !waits[i]);
    for (let k = 0; k < ready.length; k++)
        for (const e of g.node[ready[k]].out) {
            g.node[e.to].layer = Math.max(g.node[e.to].layer, g.node[ready[k]].layer + 1);
            if (!--waits[e.to])
                ready.push(e.to);
        }
    for (const n of g.node)
        if (!n.in.length && n.out.length)
            n.layer = Math.min(...n.out.map(e => g.node[e.to].layer)) - 1;
}

// Points of long edges, as nodes of their own; returns the layers as lists of nodes.
function withPoints(g) {
    const layer = [];
    const put = n => (layer[n.layer] = layer[n.layer] || []).push(n);
    g.node.forEach(n => {
        n.up = [];
        n.down = [];
        put(n);
    });
    for (const e of g.edge) {
        const a = g.node[e.from], b = g.node[e.to];
        e.side = b.layer - a.layer > FAR;
        let last = a;
        for (let l = a.layer + 1; l < b.layer && !e.side; l++) {
            const point = {layer: l, w: NODE.point, up: [], down: [], point: true};
            put(point);
            e.points.push(point);
            last.down.push(point);
            point.up.push(last);
            last = point;
        }
        if (!e.side) {
            last.down.push(b);
            b.up.push(last);
        }
    }
    return Array.from(layer, l => l || []);
}

function sweep(layer, key) {
    const lines = key === "up" ? layer : layer.slice().reverse();
    for (const line of lines) {
        for (const n of line) {
            const at = n[key].map(m => m.order).sort((a, b) => a - b);
            n.want = at.length ? at.length % 2 ? at[at.length >> 1] : (at[at.length / 2 - 1] + at[at.length / 2]) / 2
                : n.order;
        }
        line.sort((a, b) => a.want - b.want || a.order - b.order);
        line.forEach((n, k) => { n.order = k; });
    }
}

// Left edges of a line's nodes: as near to what each wants as the distances allow. Nodes that would overlap become a
// block at the mean of what they want (pool adjacent violators).
function keepApart(line) {
    const block = [];
    let before = 0;
    for (const n of line) {
        let b = {sum: n.want - n.w / 2 - before, n: 1, from: before};
        n.at = before;
        before += n.w + NODE.gapX;
        while (block.length && block[block.length - 1].sum / block[block.length - 1].n > b.sum / b.n) {
            const a = block.pop();
            b = {sum: a.sum + b.sum, n: a.n + b.n};
        }
        block.push(b);
    }
    let k = 0;
    for (const b of block)
        for (let i = 0; i < b.n; i++, k++)
            line[k].x = b.sum / b.n + line[k].at + line[k].w / 2;
}

function layGraph() {
    const g = graphOf();
    layers(g);
    const layer = withPoints(g), least = Math.min(0, ...g.node.map(n => n.layer));
    layer.forEach(line => line.forEach((n, k) => { n.order = k; }));
    for (let k = 0; k < SWEEPS; k++)
        sweep(layer, k % 2 ? "down" : "up");
    for (const line of layer) {
        line.forEach((n, k) => { n.want = k * (NODE.w + NODE.gapX); });
        keepApart(line);
    }
    for (let k = 0; k < SWEEPS; k++)
        for (const line of k % 2 ? layer.slice().reverse() : layer) {
            for (const n of line) {
                const near = k % 2 ? n.down : n.up;
                n.want = near.length ? near.reduce((a, m) => a + m.x, 0) / near.length : n.x;
            }
            keepApart(line);
        }
    let left = Infinity, right = 0;
    for (const line of layer)
        for (const n of line) {
            left = Math.min(left, n.x - n.w / 2);
            right = Math.max(right, n.x + n.w / 2);
        }
    for (const line of layer)
        for (const n of line) {
            n.x += 16 - left;
            n.y = 14 + (n.layer - least) * (NODE.h + NODE.gapY);
        }
    const sides = g.edge.filter(e => e.side).length;
    return {...g, width: Math.max(1, right - left) + 32 + Math.min(sides, 12) * 10, right: right - left + 24,
        height: 28 + (layer.length - least) * (NODE.h + NODE.gapY)};
}

// ------------------------------------------------------------------ drawing

// The kind of an operator, for its colour.
function familyOf(op) {
    const F = [["conv", /CONV|FULLY|MATMUL|GEMM|DENSE|LSTM|GRU|RNN/i], ["pool", /POOL|REDUCE|MEAN|ARGM|SUM/i],
        ["move", /RESHAPE|CONCAT|PAD|TRANSP|SLICE|SPLIT|GATHER|PACK|RESIZE|SQUEEZE|TILE/i],
        ["act", /RELU|SIGMOID|TANH|SOFTMAX|LOGISTIC|SWISH|ELU|CLIP|GELU/i]];
    const f = F.find(x => x[1].test(op));
    return f ? f[0] : "other";
}

const mid = n => n.x;
const tail = n => n.y + NODE.h;
const head = n => n.y;

function pathOf(e) {
    const a = net.node[e.from], b = net.node[e.to], bend = NODE.gapY * .8;
    if (e.side) {
        const x = net.right + (e.row % 12) * 10;
        return "M" + mid(a) + " " + tail(a) + "C" + mid(a) + " " + (tail(a) + 30) + " " + x + " " + (tail(a) + 10)
            + " " + x + " " + (tail(a) + 60) + "V" + (head(b) - 60) + "C" + x + " " + (head(b) - 10) + " " + mid(b)
            + " " + (head(b) - 30) + " " + mid(b) + " " + head(b);
    }
    let d = "M" + mid(a) + " " + tail(a), last = a;
    for (const n of [...e.points, b]) {
        d += "C" + mid(last) + " " + (tail(last) + bend) + " " + mid(n) + " " + (head(n) - bend) + " " + mid(n)
            + " " + head(n) + (n.point ? "V" + tail(n) : "");
        last = n;
    }
    return d;
}

// A line of a node, cut so that it ends inside of the box.
function line(g, y, text, room, c) {
    const t = make(g, "text", {x: 8, y, class: c}, text), wide = t.getComputedTextLength();
    const n = Math.floor(text.length * room / Math.max(wide, 1));
    if (wide > room)
        t.textContent = c === "h2" ? text.slice(0, n - 2) + ".." : ".." + text.slice(2 - n);
}

// Shows a module step by step.
function unfold(n) {
    for (let s = n.step; s <= n.last; s++)
        unfolded.add(s);
    relay(n.step);
}

// Lays the graph out again, with the node of a step in the middle.
function relay(step) {
    const scale = net.scale;
    net = {...layGraph(), scale};
    drawGraph();
    drawNetMap();
    const k = net.node.findIndex(n => n.step <= step && step <= n.last);
    if (k >= 0)
        showNode(k);
}

function drawNode(svg, n, k) {
    const step = n.step >= 0, i = n.row, many = step && n.last > n.step;
    const peak = step && n.step <= D.peak && D.peak <= n.last;
    const outs = step ? n.out.map(e => e.row) : [i];
    const what = many ? "module " + moduleAt(n.step) + ", steps " + n.step + " to " + n.last
        : step ? "step " + opOf(n.step) + " " + D.step_name[n.step] : D.kind[i] + " " + D.name[i];
    const g = make(svg, "g", {class: "node " + (many ? "module" : step ? familyOf(D.step_op[n.step]) : D.kind[i])
        + (peak ? " at-peak" : ""), "data-n": k, tabindex: 0, role: "button",
        transform: "translate(" + (n.x - n.w / 2) + " " + n.y + ")", "aria-label": what + (peak ? ", the peak" : "")});
    make(g, "rect", {width: n.w, height: NODE.h, rx: step ? 4 : 20});
    line(g, 15, many ? moduleAt(n.step) : step ? opOf(n.step) : D.short[i], n.w - 12, "h2");
    const ends = {in: "graph input", out: "graph output"};
    line(g, 28, many ? n.last - n.step + 1 + " steps, " + n.step + " to " + n.last : !step ? ends[D.kind[i]] || "graph "
        + D.kind[i] : outs.length ? D.short[outs[0]] : D.step_short[n.step], n.w - 12, "s");
    if (outs.length)
        line(g, 41, D.type[outs[0]] + " " + size(D.bytes[outs[0]]), n.w - 12, "s");
    if (peak)
        make(g, "text", {x: n.w, y: -4, class: "peak-mark", "text-anchor": "end"}, "peak");
    const pick = () => {
        if (many) {
            unfold(n);
            return;
        }
        if (step)
            pickStep(n.step);
        if (outs.length)
            pickTensor(outs[0]);
    };
    g.onclick = pick;
    g.onkeydown = e => {
        const to = {ArrowDown: n.out[0], ArrowUp: n.in[0]}[e.key];
        if (e.key === "Enter" || e.key === " ")
            pick();
        else if (to)
            showNode(e.key === "ArrowDown" ? to.to : to.from);
        else
            return;
        e.preventDefault();
    };
    g.onpointerenter = e => showCard(e, many ? [moduleAt(n.step), "steps " + n.step + " to " + n.last
        + "; a click shows them"] : step ? stepLines(n.step) : tensorLines(i));
    g.onpointerleave = hideCard;
}

// What is in the window, and a little around it.
function drawGraph() {
    const box = el("graph"), svg = box.lastElementChild, scale = net.scale;
    const y0 = box.scrollTop / scale - 200, y1 = (box.scrollTop + box.clientHeight) / scale + 200;
    const held = document.activeElement?.dataset?.n;
    for (const [key, v] of [["width", net.width * scale], ["height", net.height * scale], ["viewBox", "0 0 " + net.width
        + " " + net.height]])
        svg.setAttribute(key, v);
    svg.replaceChildren();
    const peak = new Set(live(D.peak));
    for (const e of net.edge) {
        const a = net.node[e.from], b = net.node[e.to];
        if (b.y < y0 || a.y > y1)
            continue;
        const path = make(svg, "path", {class: "edge" + (peak.has(e.row) ? " at-peak" : ""), d: pathOf(e),
            "data-t": e.row, "stroke-width": 1.2 + 3 * Math.sqrt(D.bytes[e.row] / Math.max(1, D.arena[0]))});
        path.onclick = () => pickTensor(e.row);
        path.onpointerenter = x => showCard(x, tensorLines(e.row));
        path.onpointerleave = hideCard;
    }
    net.node.forEach((n, k) => {
        if (n.y + NODE.h >= y0 && n.y <= y1)
            drawNode(svg, n, k);
    });
    const again = held !== undefined && svg.querySelector("[data-n=\"" + held + "\"]");
    if (again)
        again.focus({preventScroll: true});
    markGraph();
    frameNetMap();
}

// ------------------------------------------------------------------ the overview

const OVER = {w: 120, h: 150}; // pixels, at most

// All nodes, small, in the corner of the window; a click goes there.
function drawNetMap() {
    const box = el("graph").firstElementChild, f = Math.min(OVER.w / net.width, OVER.h / net.height);
    box.replaceChildren();
    if (f > .5) // all of it is in the window anyway
        return;
    const w = Math.max(net.width * f, 8), h = Math.max(net.height * f, 8);
    const svg = make(box, "svg", {width: w, height: h, role: "img", "aria-label": "The whole graph; the frame is what "
        + "is shown"});
    make(svg, "rect", {class: "plot", width: w, height: h});
    const kinds = {};
    for (const n of net.node) {
        const c = n.step < 0 ? D.kind[n.row] : n.step <= D.peak && D.peak <= n.last ? "peak" : "other";
        kinds[c] = (kinds[c] || "") + "M" + ((n.x - n.w / 2) * f).toFixed(1) + " " + (n.y * f).toFixed(1) + "h"
            + Math.max(n.w * f, 1).toFixed(1) + "v" + Math.max(NODE.h * f, .7).toFixed(1) + "h-"
            + Math.max(n.w * f, 1).toFixed(1) + "z";
    }
    for (const c in kinds)
        make(svg, "path", {class: "dot " + c, d: kinds[c]});
    make(svg, "rect", {class: "frame"});
    svg.onpointerdown = svg.onpointermove = e => {
        if (!(e.buttons & 1))
            return;
        const at = svg.getBoundingClientRect(), all = el("graph"), to = net.scale / f;
        all.scrollTo((e.clientX - at.x) * to - all.clientWidth / 2, (e.clientY - at.y) * to - all.clientHeight / 2);
    };
    frameNetMap();
}

function frameNetMap() {
    const all = el("graph"), svg = all.firstElementChild.firstElementChild;
    if (!svg)
        return;
    const f = svg.getAttribute("width") / net.width / net.scale, frame = svg.lastElementChild;
    for (const [key, v] of [["x", all.scrollLeft * f], ["y", all.scrollTop * f], ["width", Math.max(3, Math.min(
        all.clientWidth * f, svg.getAttribute("width")))], ["height", Math.max(3, all.clientHeight * f)]])
        frame.setAttribute(key, v);
}

function showNode(k) {
    const n = net.node[k], box = el("graph");
    box.scrollTo(n.x * net.scale - box.clientWidth / 2, n.y * net.scale - box.clientHeight / 2);
    drawGraph();
    const g = box.querySelector("[data-n=\"" + k + "\"]");
    if (g)
        g.focus({preventScroll: true});
}

function markGraph() {
    if (!net || el("graph").hidden)
        return;
    for (const g of el("graph").querySelectorAll(".node"))
        g.classList.toggle("sel", net.node[g.dataset.n].step >= 0 && net.node[g.dataset.n].step <= state.step
            && state.step <= net.node[g.dataset.n].last);
    for (const path of el("graph").querySelectorAll(".edge"))
        path.classList.toggle("sel", +path.dataset.t === state.tensor);
}

function zoomGraph(f) {
    const box = el("graph"), y = (box.scrollTop + box.clientHeight / 2) / net.scale;
    const x = (box.scrollLeft + box.clientWidth / 2) / net.scale;
    net.scale = clamp(net.scale * f, .1, 3);
    drawGraph();
    box.scrollTo(x * net.scale - box.clientWidth / 2, y * net.scale - box.clientHeight / 2);
    drawGraph();
}

// The graph or the map.
function showView(graph) {
    const box = el("graph");
    graph = graph && D.step_op.length > 0;
    el("map").hidden = graph;
    box.hidden = !graph;
    el("show-map").setAttribute("aria-pressed", !graph);
    el("show-graph").setAttribute("aria-pressed", graph);
    for (const id of ["color", "log"])
        el(id).parentNode.hidden = graph;
    el("save").hidden = graph;
    el("fold").parentNode.hidden = !graph || !D.step_name.some(name => name.includes("/"));
    if (!graph) {
        saveLink();
        return;
    }
    if (!net) {
        net = {...layGraph(), scale: 1};
        make(box, "div", {class: "over"});
        make(box, "svg", {role: "group", "aria-label": "The graph; arrow keys go along its edges"});
        box.onscroll = () => requestAnimationFrame(drawGraph);
        el("fold").onchange = e => {
            fold = +e.target.value;
            unfolded.clear();
            relay(Math.max(0, state.step));
        };
        drawGraph();
        drawNetMap();
        net.node.forEach((n, k) => {
            if (n.step === D.peak)
                box.scrollTo(n.x - box.clientWidth / 2, n.y - box.clientHeight / 2);
        });
    }
    drawGraph();
    saveLink();
}
