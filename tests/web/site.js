// site.js - the documentation site from a server of this machine: its search finds what pages say, pictures are there,
// and axe finds nothing serious on any kind of page, light and dark, wide and narrow.
// usage: node site.js CHROMIUM SITE FOLDER [AXE.js]
"use strict";
const fs = require("fs"), http = require("http"), path = require("path");
const {browser} = require("./browser.js");
const [chromium, site, folder, axe] = process.argv.slice(2);
const TYPE = {".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".json": "application/json",
    ".svg": "image/svg+xml"};
const server = http.createServer((request, reply) => {
    const file = path.join(site, decodeURIComponent(request.url.split("?")[0]));
    if (!fs.existsSync(file) || fs.statSync(file).isDirectory())
        return reply.writeHead(404).end();
    reply.writeHead(200, {"Content-Type": TYPE[path.extname(file)] || "application/octet-stream"});
    reply.end(fs.readFileSync(file));
});
let wrong = 0;
const check = (what, right) => { if (!right) wrong++, console.log("WRONG " + what); };

// The first page, tables, code, pictures, the API, what the search has found.
const PAGES = ["index.html", "comparison.html", "tutorial-cortex-m.html", "reports.html", "faq.html", "operators.html",
    "api-planner.html", "search.html?q=stripes"];

async function accessible(b, at) {
    for (const page of PAGES)
        for (const size of [{width: 1400}, {width: 1400, dark: true}, {width: 400, dark: true}]) {
            const p = await b.page(at + page, {height: 900, ...size});
            await p.evaluate(fs.readFileSync(axe, "utf8") + ";0");
            const found = await p.evaluate(`axe.run(document, {resultTypes: ["violations"]}).then(r => r.violations
                .filter(v => v.impact !== "minor").map(v => v.id + ": " + v.nodes[0].html.slice(0, 200)))`);
            check(`axe, ${page}, ${JSON.stringify(size)}: ${found.join("; ")}`, !found.length);
        }
}

server.listen(0, "127.0.0.1", async () => {
    const at = `http://127.0.0.1:${server.address().port}/`;
    const b = await browser(chromium, path.join(folder, "profile"));
    for (const [words, page] of [["stripes", "stripes.html"], ["linker script", "tutorial-cortex-m.html"],
        ["arenac_pack_check", "api-planner.html"]]) {
        const p = await b.page(at + "search.html?q=" + encodeURIComponent(words));
        const links = await p.evaluate(`(async () => { let found = [];
            for (let i = 0; i < 100 && !found.length; i++) {
                await new Promise(done => setTimeout(done, 100));
                found = [...document.querySelectorAll("#mkdocs-search-results a")].map(a => a.getAttribute("href"));
            }
            return found; })()`);
        check(`search for ${words}: ${links.slice(0, 4)}`, links.some(l => l.includes(page)));
    }
    const p = await b.page(at + "index.html");
    check("pictures", await p.evaluate("document.images.length > 1 && "
        + "[...document.images].every(i => i.naturalWidth)"));
    check("requests elsewhere", p.requests.every(u => u.startsWith(at) || u.startsWith("data:")));
    if (axe)
        await accessible(b, at);
    await b.close();
    console.log(wrong ? `${wrong} wrong` : "the site holds");
    process.exit(wrong ? 1 : 0);
});
