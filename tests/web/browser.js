// browser.js - headless Chromium by its debugging pipe, without libraries. Messages are JSON, each ended by a zero
// byte.
//
//     const b = await browser("chromium", "profile folder");
//     const p = await b.page("file:///tmp/a.html", {width: 1400, height: 900, dark: true});
//     await p.evaluate("document.title")            the value; promises are awaited, exceptions thrown
//     await p.files("#input", ["/tmp/model"])       chosen in a file input
//     await p.screenshot("/tmp/a.png")
//     await p.move(x, y); await p.click(x, y); await p.key("ArrowLeft")      as a person does
//     p.console, p.requests                         what the page has printed; URLs that it has fetched
//     await b.close();
"use strict";
const fs = require("fs"), {spawn} = require("child_process");

async function browser(command, profile) {
    const child = spawn(command, ["--headless", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe",
        "--user-data-dir=" + profile], {stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"]});
    const waiting = new Map(), pages = new Map();
    let id = 0, rest = "";
    child.on("error", e => { for (const w of waiting.values()) w.failed(e); });
    child.on("exit", () => { for (const w of waiting.values()) w.failed(new Error("the browser ended")); });
    child.stdio[4].setEncoding("utf8");
    child.stdio[4].on("data", text => {
        const parts = (rest + text).split("\0");
        rest = parts.pop();
        for (const message of parts.map(p => JSON.parse(p))) {
            const w = waiting.get(message.id);
            waiting.delete(message.id);
            if (w)
                message.error ? w.failed(new Error(message.error.message)) : w.done(message.result);
            else if (pages.has(message.sessionId))
                pages.get(message.sessionId)(message.method, message.params);
        }
    });
    const send = (method, params = {}, sessionId = undefined) => new Promise((done, failed) => {
        waiting.set(++id, {done, failed});
        child.stdio[3].write(JSON.stringify({id, method, params, sessionId}) + "\0");
    });

    async function page(url, {width = 1400, height = 900, dark = false} = {}) {
        const {targetId} = await send("Target.createTarget", {url: "about:blank"});
        const {sessionId} = await send("Target.attachToTarget", {targetId, flatten: true});
        const call = (method, params) => send(method, params, sessionId);
        const p = {console: [], requests: []};
        let loaded;
        const load = new Promise(done => { loaded = done; });
        pages.set(sessionId, (method, params) => {
            if (method === "Page.loadEventFired")
                loaded();
            if (method === "Runtime.consoleAPICalled")
                p.console.push(params.args.map(a => a.value ?? a.description).join(" "));
            if (method === "Runtime.exceptionThrown")
                p.console.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
            if (method === "Log.entryAdded")
                p.console.push(params.entry.text);
            if (method === "Network.requestWillBeSent")
                p.requests.push(params.request.url);
        });
        for (const domain of ["Page", "Runtime", "Log", "Network", "DOM"])
            await call(domain + ".enable");
        await call("Emulation.setDeviceMetricsOverride", {width, height, deviceScaleFactor: 1, mobile: false});
        const scheme = {name: "prefers-color-scheme", value: dark ? "dark" : "light"};
        await call("Emulation.setEmulatedMedia", {features: [scheme]});
        await call("Page.navigate", {url});
        await load;
        p.evaluate = async expression => {
            const r = await call("Runtime.evaluate", {expression, awaitPromise: true, returnByValue: true});
            if (r.exceptionDetails)
                throw new Error(r.exceptionDetails.exception?.description || r.exceptionDetails.text);
            return r.result.value;
        };
        p.files = async (selector, files) => {
            const {root} = await call("DOM.getDocument");
            const {nodeId} = await call("DOM.querySelector", {nodeId: root.nodeId, selector});
            await call("DOM.setFileInputFiles", {nodeId, files});
        };
        const mouse = (type, x, y, more = {}) => call("Input.dispatchMouseEvent", {type, x, y, ...more});
        p.move = (x, y) => mouse("mouseMoved", x, y);
        p.click = async (x, y) => {
            await p.move(x, y);
            for (const type of ["mousePressed", "mouseReleased"])
                await mouse(type, x, y, {button: "left", clickCount: 1});
        };
        p.key = async key => {
            const code = {Tab: 9, Enter: 13, Escape: 27, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39,
                ArrowDown: 40}[key];
            const text = key === "Enter" ? "\r" : key.length === 1 ? key : undefined;
            await call("Input.dispatchKeyEvent", {type: "keyDown", key, text, windowsVirtualKeyCode: code});
            await call("Input.dispatchKeyEvent", {type: "keyUp", key, windowsVirtualKeyCode: code});
        };
        p.screenshot = async (file, whole = false) => {
            const {data} = await call("Page.captureScreenshot", {format: "png", captureBeyondViewport: whole});
            fs.writeFileSync(file, Buffer.from(data, "base64"));
        };
        return p;
    }
    // Once it has ended nothing is written to its profile any more.
    const close = () => new Promise(done => {
        child.on("exit", done);
        send("Browser.close").catch(() => {});
        setTimeout(() => child.kill(), 5000).unref();
    });
    return {page, close};
}

module.exports = {browser};
