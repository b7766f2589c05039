// tables.js - the two long tables: a click on a column's name sorts by it, a second one the other way round. The rows
// are those that the page came with; of many, the first are shown, and a button shows the others.
const SOME = 200; // rows
const rowOf = D.name.map((_, i) => el("r" + i));

function sortable(id, keys) {
    const table = el(id);
    if (!table)
        return null;
    const body = table.tBodies[0], rows = [...body.rows];
    const t = {table, body, rows, keys, hidden: [], order: rows.map((_, i) => i), by: -1, down: false, all: false};
    [...table.tHead.rows[0].cells].forEach((th, k) => {
        const text = th.textContent;
        th.replaceChildren();
        const b = make(th, "button", {class: "sort", type: "button"}, text);
        b.onclick = () => {
            t.down = t.by === k ? !t.down : th.classList.contains("n") && k > 0; // the largest first
            t.by = k;
            const value = t.rows.map((row, i) => keys[k] ? keys[k](i)
                : +row.cells[k].textContent.replace(/,/g, ""));
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
    t.body.replaceChildren(...(t.all ? shown : shown.slice(0, SOME)).map(i => t.rows[i]));
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
