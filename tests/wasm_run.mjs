// wasm_run.mjs - a model linked to WebAssembly, run once under node: one stored input, all bytes of output 0 compared.
//
//   node wasm_run.mjs NAME MODEL.wasm HEADER.h INPUT.npy OUTPUT.npy
//
// The module exports NAME_init, NAME_run, memory and __heap_base; it may import memcpy and memset. Exit 1 when the
// output differs.
import { readFileSync } from "node:fs";

const [name, wasm, header, inputFile, outputFile] = process.argv.slice(2);
const text = readFileSync(header, "latin1");
const define = (what) => Number(text.match(new RegExp(`#define ${name.toUpperCase()}_${what} (\\w+?)u?\\b`))[1]);

function npy(file) {
    const bytes = readFileSync(file);
    return bytes.subarray(10 + bytes.readUInt16LE(8));
}

let memory;
const view = () => new Uint8Array(memory.buffer);
const env = {
    memcpy: (to, from, n) => (view().copyWithin(to, from, from + n), to),
    memset: (to, v, n) => (view().fill(v, to, to + n), to),
};
const { instance } = await WebAssembly.instantiate(readFileSync(wasm), { env });
memory = instance.exports.memory;

const mem = (instance.exports.__heap_base.value + 63) & ~63; // struct NAME_mem, then the arena
const arena = mem + 64;
memory.grow(Math.ceil((arena + define("ARENA_BYTES") - memory.buffer.byteLength) / 65536) + 1);
new Uint32Array(memory.buffer, mem, 3).set([arena, 0, 0]);
view().set(npy(inputFile), arena + define("IN0_OFFSET"));
let status = instance.exports[`${name}_init`](mem);
if (status === 0) {
    view().set(npy(inputFile), arena + define("IN0_OFFSET"));
    status = instance.exports[`${name}_run`](mem);
}
const want = npy(outputFile);
const at = arena + define("OUT0_OFFSET");
const same = status === 0 && want.equals(Buffer.from(view().subarray(at, at + want.length)));
if (!same) console.log(`${name}: ${status ? `status ${status}` : "the output differs"}`);
process.exit(same ? 0 : 1);
