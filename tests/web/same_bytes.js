// same_bytes.js - the tool in WebAssembly gives the bytes of the native one. usage: node same_bytes.js ARENAC BUILD_WEB
// SOURCE_DIR FOLDER; BUILD_WEB has arenac.js and arenac.wasm, FOLDER is empty. Exit 1: something differs.
"use strict";
const fs = require("fs"), path = require("path"), {spawnSync} = require("child_process");
const [arenac, web, source, folder] = process.argv.slice(2);
const make = require(path.resolve(web, "arenac.js"));
const {runTool} = require(path.join(source, "web", "tool.js"));
const wasm = new WebAssembly.Module(fs.readFileSync(path.join(web, "arenac.wasm")));

// Files of models/, and the options that they need.
const DENSE = ["--dim", "data.0=2", "--dim", "data.1=3", "--dim", "data.2=4"];
const MODELS = [["branch_f32.tflite"], ["branch_int8.tflite"], ["digits_f32.tflite"], ["digits_int8.tflite"],
    ["dsnet_f32.tflite"], ["dsnet_int8.tflite"], ["gate.ag"], ["squares.prototxt", "squares.caffemodel"],
    ["dense-symbol.json", "dense-0000.params", ...DENSE],
    ["tf_cnn.pb", "--dim", "x.0=2"], ["tf_rnn.pbtxt"], ["tf_saved"]];
const TARGETS = ["generic", "cortex-m4", "x86-64-v3", "wasm32"];
const COMMANDS = [
    t => ["compile", "--emit", "c,h,json,svg,html,md,lock,selftest", "-o", "made", "-t", t, "--stack", "estimate"],
    t => ["plan", "--emit", "json,csv,dot,ag", "-o", "made", "-t", t, "--stripe", "auto", "--schedule", "search",
        "--overlap", "on"],
    () => ["run", "--backend", "eval", "-t", "generic", "--random", "1", "--output-dir", "made"],
    () => ["check"],
    () => ["plan", "-v", "--budget", "100"], // exit 4
    () => ["plan", "--planner", "nosuch"], // exit 2
];

const HUGE = `graph huge {
  input x: f32[40000,40000]
  y = relu(x)
  output y
}
`;

function load(at, from, into) {
    for (const name of fs.readdirSync(at)) {
        const file = path.join(at, name), key = from + name;
        if (fs.statSync(file).isDirectory())
            load(file, key + "/", into);
        else
            into[key] = new Uint8Array(fs.readFileSync(file));
    }
    return into;
}

function native(args, files) {
    const at = fs.mkdtempSync(path.join(folder, "n"));
    for (const key of Object.keys(files)) {
        fs.mkdirSync(path.dirname(path.join(at, key)), {recursive: true});
        fs.writeFileSync(path.join(at, key), files[key]);
    }
    const r = spawnSync(path.resolve(arenac), args, {cwd: at, env: {...process.env, NO_COLOR: "1", COLUMNS: "80"}});
    const made = load(at, "", {});
    for (const key of Object.keys(files))
        delete made[key];
    fs.rmSync(at, {recursive: true});
    return {status: r.status, out: r.stdout.toString(), err: r.stderr.toString(), files: made};
}

function compare(what, a, b) {
    const wrong = ["status", "out", "err"].filter(k => a[k] !== b[k]).map(k => `${k}: ${b[k]} instead of ${a[k]}`);
    const names = [...new Set([...Object.keys(a.files), ...Object.keys(b.files)])];
    for (const n of names)
        if (!a.files[n] || !b.files[n] || Buffer.compare(Buffer.from(a.files[n]), Buffer.from(b.files[n])))
            wrong.push(`file ${n} differs`);
    for (const w of wrong)
        console.log(`WRONG ${what}: ${w}`.slice(0, 2000));
    return wrong.length + (names.length || a.out || a.err ? 0 : 1); // nothing to compare is wrong as well
}

(async () => {
    let runs = 0, wrong = 0;
    for (const [m, names] of MODELS.entries()) {
        const files = {};
        for (const n of names.slice(0, names.indexOf("--dim") >>> 0)) {
            const at = path.join(source, "models", n);
            if (fs.statSync(at).isDirectory())
                load(at, n + "/", files);
            else
                files[n] = new Uint8Array(fs.readFileSync(at));
        }
        for (const [c, command] of COMMANDS.entries()) {
            const [verb, ...options] = command(TARGETS[(m + c) % TARGETS.length]), args = [verb, ...names, ...options];
            wrong += compare(args.join(" "), native(args, files), await runTool(make, wasm, args, files));
            runs++;
        }
    }
    // Six gigabytes are planned alike, and are more than 32 bits address: a message, no crash.
    const huge = {"huge.ag": new TextEncoder().encode(HUGE)};
    const args = ["plan", "huge.ag", "--emit", "json", "-o", "made.json"];
    wrong += compare(args.join(" "), native(args, huge), await runTool(make, wasm, args, huge));
    const r = await runTool(make, wasm, ["run", "huge.ag", "--backend", "eval", "--random", "1"], huge);
    if (r.status !== 4 || !/error\[E0403\]/.test(r.err))
        wrong++, console.log(`WRONG huge.ag: status ${r.status}, ${r.err}`);
    console.log(`${runs} commands, ${wrong} wrong`);
    process.exit(wrong ? 1 : 0);
})();
