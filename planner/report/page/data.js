// data.js - the plan as the page has it, and what follows from it: pieces of tensors, who is alive, bytes in use.
//
// The columns of D are made by html_data.c. A row is a tensor, an item is what has an offset; the root of an item is
// the row that draws its shape. `state` is all that is selected; nothing else is remembered between two drawings.
const el = id => document.getElementById(id);
const D = JSON.parse(el("plan-data").textContent);
const N = D.name.length;
const pic = el("picture");
const MANY = 500; // rows or steps: from here on, what is too small to be seen is an area
const far = N > MANY || D.steps > MANY;
const state = {plan: 0, step: -1, tensor: -1, than: ""};
const view = {t0: 0, t1: D.steps}; // the steps shown

const comma = n => n.toLocaleString("en-US");
const hex = n => "0x" + n.toString(16);
const digits = v => v >= 100 ? v.toFixed(0) : v.toFixed(1).replace(".0", "");
const KIB = 1024, MIB = KIB * KIB;
const size = n => n < KIB ? n + " B" : n < MIB ? digits(n / KIB) + " KiB" : digits(n / MIB) + " MiB";
const count = n => n < 1e4 ? comma(n) : n < 1e6 ? digits(n / 1e3) + " k" : n < 1e9 ? digits(n / 1e6) + " M"
    : digits(n / 1e9) + " G";
const percent = (a, b) => a >= 10 * b && b ? digits(a / b) + " times" : (a < b ? "" : "+") + (100 * (a - b)
    / (b || 1)).toFixed(1) + " %";
const clamp = (v, lo, hi) => Math.max(lo, Math.min(hi, v));
const shortOf = name => D.short[D.name.indexOf(name)] || name;
const opOf = s => s + (D.step_op[s] ? " " + D.step_op[s] : "");
const memOf = k => D.mem.length ? D.mem[state.plan][k] : 0;
const rams = new Set(D.mem.flat()).size || 1; // memories in use
const several = D.bounds.length > 0; // memories of tensors
const boundOf = m => several ? D.bounds[state.plan][m] : m ? 0 : D.bound;
const peakOf = m => several ? D.peaks[state.plan][m] : m ? -1 : D.peak;
const at = i => D.offsets[state.plan][D.item[i]] + D.delta[i];
const place = i => rams > 1 ? D.memories[memOf(D.item[i])] + " " : "";
const range = i => hex(at(i)) + "-" + hex(at(i) + Math.max(D.bytes[i], 1) - 1);

function make(parent, tag, attrs = {}, text = undefined) {
    const svg = tag === "svg" || parent.namespaceURI === pic.namespaceURI;
    const e = svg ? document.createElementNS(pic.namespaceURI, tag) : document.createElement(tag);
    for (const k in attrs)
        e.setAttribute(k, attrs[k]);
    if (text !== undefined)
        e.textContent = text;
    parent.append(e);
    return e;
}

// A name that may be broken after its slashes.
function named(e, text) {
    text.split(/(?<=[/;])/).forEach((part, k) => {
        if (k)
            make(e, "wbr");
        e.append(part);
    });
    return e;
}

function link(parent, text, f) {
    const b = named(make(parent, "button", {class: "link", type: "button"}), text);
    b.onclick = f;
    return b;
}

// Bytes lo..hi while t0 <= step < t1, as [t0, t1, lo, hi]; as ac_picture_pieces in picture.c.
function pieces(i) {
    const k = D.item[i];
    const base = D.offsets[state.plan][k];
    if (D.root[k] !== i)
        return [[D.first[i], D.last[i] + 1, at(i), at(i) + D.bytes[i]]];
    const list = [];
    let t = D.begin[k];
    for (const g of D.gaps[k] || []) {
        if (g[0] > t)
            list.push([t, g[0], base, base + D.size[k]]);
        if (g[3] > g[2])
            list.push([g[0], g[1], base + g[2], base + g[3]]);
        t = g[1];
    }
    if (D.end[k] > t)
        list.push([t, D.end[k], base, base + D.size[k]]);
    return list;
}

// All pieces of the items in a memory under the planner: {item, q}.
function placed(mem) {
    const all = [];
    D.root.forEach((i, item) => {
        if (memOf(item) === mem)
            for (const q of pieces(i))
                all.push({item, q});
    });
    return all;
}

// Where the bytes of two items lie over each other at the same time, as fill_overlaps of picture.c.
function overlapsOf(all) {
    const found = [];
    let open = [];
    for (const x of all.slice().sort((a, b) => a.q[0] - b.q[0])) {
        open = open.filter(y => y.q[1] > x.q[0]);
        for (const y of open) {
            const both = [x.q[0], Math.min(x.q[1], y.q[1]), Math.max(x.q[2], y.q[2]), Math.min(x.q[3], y.q[3])];
            if (both[2] < both[3] && x.item !== y.item)
                found.push(both);
        }
        open.push(x);
    }
    return found;
}

// Bytes of pieces that may lie over each other.
function union(list) {
    let bytes = 0, end = 0;
    for (const q of list.sort((a, b) => a[2] - b[2])) {
        bytes += Math.max(0, q[3] - Math.max(q[2], end));
        end = Math.max(end, q[3]);
    }
    return bytes;
}

// Bytes of a memory in use in each step: those alive, but bytes of two tensors once.
function usedBySteps(all) {
    const change = new Float64Array(D.steps + 1);
    for (const {q} of all) {
        change[q[0]] += q[3] - q[2];
        change[q[1]] -= q[3] - q[2];
    }
    let sum = 0;
    const used = change.slice(0, D.steps).map(c => (sum += c));
    const both = new Set();
    for (const q of overlapsOf(all))
        for (let s = q[0]; s < q[1]; s++)
            both.add(s);
    for (const s of both)
        used[s] = union(all.filter(x => x.q[0] <= s && s < x.q[1]).map(x => x.q));
    return used;
}

// Rows alive in a step, largest first; an item held without a tensor of its own (--preserve) counts as its root.
function live(s) {
    const set = [], has = new Set();
    for (let i = 0; i < N; i++)
        if (D.item[i] >= 0 && D.first[i] <= s && s <= D.last[i]) {
            set.push(i);
            has.add(D.item[i]);
        }
    D.root.forEach((i, k) => {
        if (!has.has(k) && D.begin[k] <= s && s < D.end[k])
            set.push(i);
    });
    return set.sort((a, b) => D.bytes[b] - D.bytes[a] || a - b);
}

// The row at a step and an address of a memory, the smallest of them; -1.
function rowAt(mem, t, b) {
    let best = -1;
    for (let i = 0; i < N; i++) {
        const k = D.item[i];
        if (k < 0 || memOf(k) !== mem || D.begin[k] > t || D.end[k] <= t || (best >= 0 && D.bytes[i] > D.bytes[best]))
            continue;
        if (pieces(i).some(q => q[0] <= t && t < q[1] && q[2] <= b && b < q[3]))
            best = i;
    }
    return best;
}
