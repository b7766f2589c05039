// tables.js - the two long tables: a click on a column's name sorts by it, a second one the other way round. The page
// comes with the first rows, and with lines of text that become rows when they are needed; a button shows all.
const SOME = 200; // rows, as AC_PAGE_ROWS

function sortable(id, keys) {
    const table = el(id);
    if (!table)
        return null;
    const body = table.tBodies[0], rows = [...body.rows], more = el("more-" + body.id);
    const text = more ? more.textContent.slice(1).split(/\n(?=<tr )/) : [];
    const t = {table, body, rows, keys, hidden: [], order: [...rows, ...text].map((_, i) => i), by: -1, down: false,
        all: false};
    t.row = i => {
        if (!rows[i]) {
            const made = document.createElement("tbody");
            made.innerHTML = text[i - SOME];
            rows[i] = made.rows[0];
            if (t.changed)
                t.changed(i);
        }
        return rows[i];
    };
    [...table.tHead.rows[0].cells].forEach((th, k) => {
        const text = th.textContent;
        th.replaceChildren();
        const b = make(th, "button", {class: "sort", type: "button"}, text);
        b.onclick = () => {
            t.down = t.by === k ? !t.down : th.classList.contains("n") && k > 0; // the largest first
            t.by = k;
            const value = t.order.map((_, i) => keys[k] ? keys[k](i)
                : +t.row(i).cells[k].textContent.replace(/,/g, ""));
            t.order.sort((x, y) => {
                const a = value[x], c = value[y];
                const less = typeof a === "number" ? a - c : a < c ? -1 : a > c ? 1 : 0;
                return (t.down ? -less : less) || x - y;
            });
            for (const other of table.tHead.rows[0].cells)
                other.removeAttribute("aria-sort");
            th.setAttribute("aria-sort", t.down ? "descending" : "ascending");
            fill(t);
        };
    });
    t.more = make(table.parentNode, "button", {class: "more", type: "button"});
    t.more.onclick = () => {
        t.all = true;
        fill(t);
    };
    return t;
}

function fill(t) {
    const shown = t.order.filter(i => !t.hidden[i]);
    t.body.replaceChildren(...(t.all ? shown : shown.slice(0, SOME)).map(t.row));
    t.more.hidden = t.all || shown.length <= SOME;
    t.more.textContent = "Show all " + comma(shown.length);
}

const tables = {
    tensors: sortable("tensors", [i => D.short[i], i => D.type[i], i => D.bytes[i],
        i => D.item[i] < 0 ? -1 : at(i), i => D.first[i], i => D.last[i], i => D.producer[i],
        i => D.readers[i].length, i => D.alias[i] || ""]),
    steps: sortable("steps", [s => s, s => D.step_op[s], s => D.step_short[s], null, s => D.step_macs[s],
        s => D.step_weights[s], s => D.step_traffic[s]]),
};
tables.tensors.changed = i => { // its address is that of the plan that the page came with
    if (state.plan && D.item[i] >= 0)
        tables.tensors.rows[i].querySelector(".at").textContent = range(i);
};
