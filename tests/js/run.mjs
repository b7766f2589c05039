// js_run.mjs - a printed model run once on one stored input: all bytes of output 0 compared.
//
//   node js_run.mjs MODEL.js INPUT.npy OUTPUT.npy       exit 1 when the output differs
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [file, inputFile, outputFile] = process.argv.slice(2);
const npy = (path) => {
    const bytes = readFileSync(path);
    return bytes.subarray(10 + bytes.readUInt16LE(8));
};
const bytesOf = (a) => new Uint8Array(a.buffer, a.byteOffset, a.byteLength);
const { Model } = await import(pathToFileURL(file));
const model = new Model();
bytesOf(model.inputs[0]).set(npy(inputFile));
const status = model.run();
const same = status === 0 && npy(outputFile).equals(Buffer.from(bytesOf(model.outputs[0])));
if (!same) console.log(`${file}: ${status ? `status ${status}` : "the output differs"}`);
process.exit(same ? 0 : 1);
