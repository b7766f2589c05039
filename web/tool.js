// tool.js - arenac in WebAssembly, run as a process is: arguments and files in; status, text and files out. Each run
// has an instance and a file system of its own, so none sees what another has left. For the page's workers and node.
//
//     const r = await runTool(arenacModule, wasm, ["plan", "m.tflite", "--emit", "svg", "-o", "m.svg"],
//                             {"m.tflite": bytes});
//     r.status, r.out, r.err, r.files["m.svg"]
//
// arenacModule: what arenac.js defines; wasm: a WebAssembly.Module; files: path -> Uint8Array, relative to the folder
// in which the tool runs. r.files: those that the run has made or changed. Errors: a run that the machine ended (no
// memory, no stack) has status 70 and says so in r.err.
"use strict";

const TOOL_FOLDER = "/run/";

function toolWrite(fs, files) {
    fs.mkdirTree(TOOL_FOLDER);
    fs.chdir(TOOL_FOLDER);
    for (const path of Object.keys(files)) {
        const slash = path.lastIndexOf("/");
        if (slash > 0)
            fs.mkdirTree(TOOL_FOLDER + path.slice(0, slash));
        fs.writeFile(TOOL_FOLDER + path, files[path]);
    }
}

function toolRead(fs, given, folder, into) {
    for (const name of fs.readdir(folder)) {
        const path = folder + name;
        if (name === "." || name === "..")
            continue;
        if (fs.isDir(fs.stat(path).mode)) {
            toolRead(fs, given, path + "/", into);
            continue;
        }
        const key = path.slice(TOOL_FOLDER.length), bytes = fs.readFile(path), old = given[key];
        if (!old || old.length !== bytes.length || bytes.some((b, i) => b !== old[i]))
            into[key] = bytes;
    }
    return into;
}

async function runTool(make, wasm, args, files) {
    const out = [], err = [];
    let status = 70;
    const module = await make({
        noInitialRun: true,
        preRun: [m => { m.ENV.NO_COLOR = "1"; }],
        print: line => out.push(line),
        printErr: line => err.push(line),
        quit: (code, why) => { throw why; }, // else node itself would end
        onExit: code => { status = code; },
        instantiateWasm: (imports, done) => {
            done(new WebAssembly.Instance(wasm, imports), wasm);
            return {};
        },
    });
    toolWrite(module.FS, files);
    try {
        module.callMain(args);
    } catch (e) {
        if (e.name !== "ExitStatus") {
            status = 70;
            err.push("arenac: the browser ended the run: " + e.message);
        }
    }
    const text = lines => lines.length ? lines.join("\n") + "\n" : "";
    return {status, out: text(out), err: text(err), files: toolRead(module.FS, files, TOOL_FOLDER, {})};
}

if (typeof module === "object")
    module.exports = {runTool};
