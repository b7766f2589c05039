// look.js - how the map looks: heights by bytes or by their logarithms, what colours mean, and the map as a file.
//
// Logarithmic heights: the addresses at which some tensor begins or ends cut the memory into slices; a slice of n bytes
// is log2(1 + n) high. So one giant tensor leaves all others visible, whatever its address.
let logs = false, paint = null; // paint: row -> [red, green, blue]; null: by kind
let slices = {plan: -1, of: []}; // by memory: {edge: addresses, high: the height of each}

function slicesOf(mem) {
    if (slices.plan !== state.plan)
        slices = {plan: state.plan, of: []};
    if (slices.of[mem])
        return slices.of[mem];
    const at = new Set([0, Math.max(...panels.map((_, k) => topOf(k)))]);
    D.root.forEach((_, k) => {
        if (memOf(k) === mem)
            at.add(D.offsets[state.plan][k]).add(D.offsets[state.plan][k] + D.size[k]);
    });
    const edge = [...at].sort((a, b) => a - b), high = [0];
    for (let k = 1; k < edge.length; k++)
        high.push(high[k - 1] + Math.log2(1 + edge[k] - edge[k - 1]));
    return slices.of[mem] = {edge, high};
}

// y of the ends of the slice with x: linear between them
function between(from, to, x) {
    let a = 0, b = from.length - 1;
    while (b - a > 1) {
        const m = (a + b) >> 1;
        if (from[m] <= x)
            a = m;
        else
            b = m;
    }
    return to[a] + (x - from[a]) / (from[b] - from[a] || 1) * (to[b] - to[a]);
}

// The height of an address of a panel, in any unit; and the address at y of the picture.
const up = (p, b) => logs ? between(slicesOf(p.mem).edge, slicesOf(p.mem).high, b) : b;
function bytesAt(p, y) {
    const high = up(p, p.lo) + (1 - (y - p.y) / p.h) * (up(p, p.hi) - up(p, p.lo));
    return logs ? between(slicesOf(p.mem).high, slicesOf(p.mem).edge, high) : high;
}

// The axis of addresses with logarithmic heights: where slices begin, as far as there is room.
function drawEdges(p, g) {
    const ROOM = 15;
    [...g.children].slice(1).forEach(e => e.remove());
    let last = Infinity;
    for (const b of slicesOf(p.mem).edge) {
        const y = p.y + py(p, b);
        if (b < p.lo || b >= p.hi || last - y < ROOM)
            continue;
        last = y;
        make(g, "path", {class: "grid", d: "M" + p.x + " " + y + "h" + p.w});
        make(g, "text", {x: p.x - 7, y: y + 4}, size(b));
    }
}

// ------------------------------------------------------------------ colours

// Of a hue in degrees; light enough for dark text, or dark enough for light text.
function hue(h) {
    const f = n => {
        const k = (n + h / 30) % 12;
        return Math.round(255 * (isDark() ? .3 - .14 * Math.max(-1, Math.min(k - 3, 9 - k, 1))
            : .72 - .2 * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
    };
    return [f(0), f(8), f(4)];
}

// The module that a name belongs to: its first parts, as many as tell modules apart.
const moduleOf = name => name.split(/[;]/)[0].split("/").slice(0, -1).slice(0, 2).join("/")
    || name.replace(/[._/\d].*/, "");

const LOOKS = {
    kind: null,
    layer: i => D.producer[i] >= 0 && D.step_op.length ? moduleOf(D.step_name[D.producer[i]]) : "outside",
    type: i => D.type[i].split(" ")[0] || "bytes",
    lifetime: i => {
        const n = D.last[i] - D.first[i] + 1;
        return ["1 step", "2 to 3 steps", "4 to 10 steps", "11 to 100 steps", "more than 100"][n < 2 ? 0 : n < 4 ? 1
            : n < 11 ? 2 : n < 101 ? 3 : 4];
    },
};

function setColors(by) {
    const of = LOOKS[by], words = of ? [...new Set(D.name.map((_, i) => of(i)))] : [], list = el("legend"), MOST = 12;
    const color = new Map(words.map((w, k) => [w, hue(200 + k * 360 / Math.max(words.length, 3))]));
    const each = of && D.name.map((_, i) => color.get(of(i)));
    paint = of ? i => each[i] : null;
    pic.classList.toggle("painted", Boolean(of));
    list.querySelectorAll(".by").forEach(e => e.remove());
    for (const w of words.slice(0, MOST)) {
        const li = make(list, "li", {class: "by"});
        make(make(li, "svg", {width: 16, height: 11, "aria-hidden": "true"}), "rect", {width: 14, height: 10,
            fill: "rgb(" + color.get(w) + ")"});
        li.append(w);
    }
    if (words.length > MOST)
        make(list, "li", {class: "by"}, "and " + (words.length - MOST) + " more");
    draw();
}

// ------------------------------------------------------------------ files

// The map as it is, with its style, as the text of an SVG file.
function mapText() {
    const copy = pic.cloneNode(true), style = document.createElementNS(pic.namespaceURI, "style");
    const [, , w, h] = pic.getAttribute("viewBox").split(" ");
    style.textContent = document.querySelector("style").textContent.replaceAll(":root", "svg") + "svg{color-scheme:"
        + (dark ? "dark" : "light") + ";background:" + (dark ? "#0d1117" : "#fff") + "}.key,.head{display:none}";
    copy.prepend(style);
    copy.setAttribute("width", w);
    copy.setAttribute("height", h);
    copy.removeAttribute("tabindex");
    return new XMLSerializer().serializeToString(copy);
}

function save(href, end) {
    make(document.body, "a", {href, download: (D.file || "plan").replace(/\.[^.]*$/, "") + end}).click();
    document.body.lastElementChild.remove();
}

function savePng(href) {
    const image = new Image(), canvas = document.createElement("canvas"), SHARP = 2;
    image.onload = () => {
        canvas.width = image.width * SHARP;
        canvas.height = image.height * SHARP;
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        save(canvas.toDataURL("image/png"), ".png");
    };
    image.src = href;
}

function showLook() {
    for (const by of Object.keys(LOOKS))
        if (by !== "layer" || D.step_op.length)
            make(el("color"), "option", {value: by}, by);
    el("color").onchange = e => setColors(e.target.value);
    el("log").onchange = e => {
        logs = e.target.checked;
        fit();
    };
    el("save").onchange = e => {
        const href = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(mapText());
        if (e.target.value === "png")
            savePng(href);
        else
            save(href, ".svg");
        e.target.value = "";
    };
}
