// whatif.js - what the plan would be with other options. Inside of the page that has the tool (web/page.js) a change
// plans at once; elsewhere the command appears, to be copied.
const tool = "tool" in document.body.dataset ? window.parent : null;

// The options of this plan, as words: "-t cortex-m4 --stripe auto"; a value stays with its name.
const given = () => (D.options || "").match(/-{1,2}[\w-]+(?:[ =](?!-)\S+)*/g) || [];

const CHOICES = [ // control, option, words; the first stands for the default
    ["align", "--align", ["as the target", "4", "8", "16", "32", "64", "128", "256"]],
    ["planner", "--planner", ["auto", ...D.planners.filter(name => name !== "plan")]],
    ["stripe", "--stripe", ["off", "auto"]],
    ["schedule", "--schedule", ["keep", "search"]],
    ["overlap", "--overlap", ["off", "on"]],
];

const isOf = option => words => words === option || words.startsWith(option + " ") || words.startsWith(option + "=");

function wanted() {
    const list = given().filter(words => ![...CHOICES.map(c => c[1]), "--budget"].some(o => isOf(o)(words)));
    for (const [id, option, words] of CHOICES)
        if (el("if-" + id).value !== words[0])
            list.push(option + " " + el("if-" + id).value);
    if (el("if-budget").value.trim())
        list.push("--budget " + el("if-budget").value.trim().replace(/[^\w.]/g, ""));
    return list;
}

function tellWhatIf() {
    const list = wanted();
    el("if-command").textContent = "arenac plan " + D.file + list.map(words => " " + words).join("") + " --emit html";
    if (tool)
        tool.postMessage({arenac: "plan", options: list.join(" ").split(" ")}, "*");
}

function showWhatIf() {
    if (!D.step_op.length)
        return;
    const box = el("what-if"), list = given();
    make(box, "h2", {}, "What if");
    const grid = make(box, "div", {class: "choices"});
    for (const [id, option, words] of CHOICES) {
        const label = make(grid, "label", {}, option.slice(2) + " "), pick = make(label, "select", {id: "if-" + id});
        const now = (list.find(isOf(option)) || "").slice(option.length + 1);
        for (const w of [...words, ...(now && !words.includes(now) ? [now] : [])])
            make(pick, "option", {value: w}, w);
        pick.value = now || words[0];
        pick.onchange = tellWhatIf;
    }
    const budget = make(make(grid, "label", {}, "budget "), "input", {id: "if-budget", size: 8, placeholder: "64K"});
    budget.value = D.budget >= 0 ? D.budget : "";
    budget.onchange = tellWhatIf;
    make(make(box, "p", {class: "keys"}, tool ? "A change plans at once: " : "The command of these choices: "), "code",
        {id: "if-command", tabindex: 0});
    el("if-command").textContent = "arenac plan " + D.file + list.map(words => " " + words).join("") + " --emit html";
}
