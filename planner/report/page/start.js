// start.js - what listens to the pointer, the keys and the controls, and the first drawing.

// Pointer position in the picture's own units.
const spot = e => new DOMPoint(e.clientX, e.clientY).matrixTransform(pic.getScreenCTM().inverse());
const panelAt = q => panels.find(p => q.x >= p.x && q.x <= p.x + p.w && q.y >= p.y && q.y <= p.y + p.h);

// The row at the pointer: the shape, or, where it is too small to have one, what the map has there; -1.
function rowOfEvent(e) {
    const g = e.target.closest(".t");
    if (g && g.id)
        return +g.id.slice(1);
    const q = spot(e), p = panelAt(q);
    return !p ? -1 : rowAt(p.mem, Math.floor(view.t0 + (q.x - p.x) / p.w * (view.t1 - view.t0)),
        bytesAt(p, q.y));
}

let drag = null;
pic.addEventListener("pointerdown", e => {
    if (e.button === 0)
        drag = {at: spot(e), moved: false};
});
pic.addEventListener("pointermove", e => {
    if (!drag || !(e.buttons & 1)) {
        const i = rowOfEvent(e);
        if (i >= 0)
            showCard(e, tensorLines(i));
        else
            hideCard();
        return;
    }
    const q = spot(e);
    if (!drag.moved && Math.hypot(q.x - drag.at.x, q.y - drag.at.y) < 4)
        return;
    if (!drag.moved)
        pic.setPointerCapture(e.pointerId);
    drag.moved = true;
    pan(q.x - drag.at.x, q.y - drag.at.y, panelAt(q) || panels[0]);
    drag.at = q;
});
pic.addEventListener("pointerleave", hideCard);
pic.addEventListener("click", e => {
    const moved = drag && drag.moved;
    drag = null;
    if (moved) {
        saveLink();
        return;
    }
    const i = rowOfEvent(e), q = spot(e), p = panels[0];
    const tick = e.target.closest("#x text"); // a number, or an operator whose title begins with it
    const step = tick ? parseInt((tick.querySelector("title") || tick).textContent, 10) : NaN;
    if (step >= 0)
        pickStep(step);
    else if (i >= 0)
        pickTensor(i);
    else if (q.x >= p.x && q.x <= p.x + p.w && q.y >= p.y)
        pickStep(Math.floor(view.t0 + (q.x - p.x) / p.w * (view.t1 - view.t0)));
});
pic.addEventListener("wheel", e => {
    if (!e.ctrlKey && !e.shiftKey && !e.altKey)
        return;
    e.preventDefault();
    const q = spot(e);
    zoom(Math.exp(clamp(e.deltaY || e.deltaX, -100, 100) / 300), q.x, q.y, e.shiftKey ? 1 : e.altKey ? 2 : 3);
}, {passive: false});

// Up and down walk through the tensors alive in the step, by address.
function walk(by) {
    const set = live(Math.max(state.step, 0)).filter(hasShape).sort((a, b) => at(a) - at(b) || a - b);
    const k = set.indexOf(state.tensor);
    if (set.length)
        pickTensor(set[k < 0 ? 0 : clamp(k + by, 0, set.length - 1)]);
}

function onKey(e) {
    pic.classList.remove("unused");
    const act = {
        ArrowLeft: () => pickStep(Math.max(0, state.step - 1)), ArrowRight: () => pickStep(state.step + 1),
        Home: () => pickStep(0), End: () => pickStep(D.steps - 1), ArrowUp: () => walk(1), ArrowDown: () => walk(-1),
        "+": () => zoomMiddle(.7), "=": () => zoomMiddle(.7), "-": () => zoomMiddle(1.4), "0": fit,
        p: () => pickStep(D.peak),
    }[e.key];
    if (!act || e.ctrlKey || e.metaKey)
        return;
    e.preventDefault();
    act();
}

// The picture has the keys from the beginning; where nothing has them, those that would scroll the page scroll it.
const SCROLLS = new Set(["ArrowUp", "ArrowDown", "Home", "End"]);
const focusPicture = () => pic.focus({preventScroll: true});
pic.addEventListener("keydown", onKey);
document.addEventListener("keydown", e => {
    if (e.target === document.body && !SCROLLS.has(e.key))
        onKey(e);
    if (e.key === "Escape") {
        clear();
        if (document.activeElement === el("search"))
            focusPicture();
    }
    if (e.key === "/" && e.target.tagName !== "INPUT") {
        e.preventDefault();
        el("search").focus();
    }
});
el("search").addEventListener("input", search);
el("search").addEventListener("keydown", e => {
    if (e.key === "Enter")
        nextHit();
});
el("step").addEventListener("input", e => pickStep(e.target.value === "" ? -1 : Math.floor(+e.target.value)));
el("zoom-in").onclick = () => el("graph").hidden ? zoomMiddle(.7) : zoomGraph(1.25);
el("zoom-out").onclick = () => el("graph").hidden ? zoomMiddle(1.4) : zoomGraph(.8);
el("fit").onclick = () => el("graph").hidden ? fit() : zoomGraph(Math.min(1, el("graph").clientWidth / net.width)
    / net.scale);
el("show-map").onclick = () => showView(false);
el("show-graph").onclick = () => showView(true);
el("show-map").parentNode.hidden = !D.step_op.length;
el("theme").onclick = () => {
    const root = document.documentElement;
    root.dataset.theme = isDark() ? "light" : "dark";
    setColors(el("color").value);
};
el("rows").addEventListener("click", e => {
    const b = e.target.closest("button");
    if (!b)
        return;
    showView(false);
    pickTensor(+b.dataset.t);
    pic.scrollIntoView({block: "nearest"});
});
// A page of plan --watch is read again while it is seen and nothing is done in it, for an hour after its last change.
// The address has what is selected, so it stays.
function watch() {
    const EVERY = 2000, HOUR = 3600000;
    let used = Date.now();
    if (!("watch" in document.body.dataset))
        return;
    for (const what of ["pointermove", "pointerdown", "keydown", "wheel"])
        addEventListener(what, () => { used = Date.now(); }, {passive: true});
    setInterval(() => {
        if (!document.hidden && Date.now() - used > EVERY && Date.now() - new Date(document.lastModified) < HOUR)
            location.reload();
    }, EVERY);
}

pic.setAttribute("tabindex", "0");
pic.setAttribute("role", "group");
pic.setAttribute("aria-describedby", "keys");
for (const e of pic.querySelectorAll(".t > title,.dots"))
    e.remove(); // the card says it, the map draws them
document.body.classList.add("ready");
addEventListener("resize", draw);
addEventListener("hashchange", followLink);
showFigures();
showLegend();
showPlanners();
showLower();
showLargest();
showLook();
showWhatIf();
showCompare();
fill(tables.tensors);
if (tables.steps)
    fill(tables.steps);
panels.forEach((p, k) => { p.hi = topOf(k); });
followLink();
watch();
pic.classList.add("unused"); // no frame before the first key
focusPicture();
