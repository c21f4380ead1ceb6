import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createFetch, type Fetch } from "@emend/base/network.ts";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { addProject } from "../accounts/projects/save-project.ts";
import { createSealer } from "../accounts/secrets.ts";
import { createForgeReach } from "../installation/forge-reach.ts";
import { checkExternalLinks } from "./external-links.ts";

let database: TestDatabase;
let server: Server;
let origin: string;
const requests: string[] = [];
const answers = new Map<string, (method: string) => number>();
const reach = createFetch({});
const { signal } = new AbortController();
let projectId: string;
let now: Date;

beforeAll(async () => {
  database = await createTestDatabase();
  server = createServer((request, response) => {
    const { method = "", url = "" } = request;
    requests.push(`${method} ${url}`);
    const [path = "", to] = url.split("?to=");
    const status = to === undefined ? (answers.get(path)?.(method) ?? 200) : 302;
    response.writeHead(status, to === undefined ? {} : { location: to }).end();
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  await reach.close();
  server.close();
  await database.drop();
});
beforeEach(async () => {
  now = new Date("2026-01-01T12:00:00Z");
  const sealer = createSealer("a secret of the tests, and of nothing else");
  const project = {
    name: "docs",
    forge: "local",
    repositoryUrl: "https://emend.test/git/x.git",
    settings: {},
  } as const;
  projectId = (await addProject({ db: database.pool, sealer }, project)).id;
});
afterEach(() => {
  requests.length = 0;
  answers.clear();
});

async function look(paths: readonly string[], fetch: Fetch = reach.fetch): Promise<string[]> {
  const links = paths.map((path, i) => ({ url: new URL(path, origin).href, path: "a.md", line: i + 1 }));
  const deps = { db: database.pool, fetch, now: () => now, pause: async () => undefined };
  const found = await checkExternalLinks(deps, projectId, links, signal);
  return found.map(({ line, message }) => `${line} ${message.replace(origin, "")}`);
}

const daysLater = (days: number): void => {
  now = new Date(now.getTime() + days * 86_400_000);
};

it("tells of a link only after it failed several times over days, with its last good answer, and forgets once it works", async () => {
  expect(await look(["/a"])).toEqual([]);
  answers.set("/a", () => 404);
  for (let day = 0; day < 2; day++) {
    daysLater(1);
    expect(await look(["/a"])).toEqual([]);
  }
  daysLater(1);
  const message =
    "`/a` has failed since 2026-01-02 (3 times, last: 404); its last good answer was on 2026-01-01. Correct or remove the link.";
  expect(await look(["/a"])).toEqual([`1 ${message}`]);
  answers.set("/a", () => 200);
  daysLater(1);
  expect(await look(["/a"])).toEqual([]);
  answers.set("/a", () => 404);
  daysLater(1);
  expect(await look(["/a"])).toEqual([]);
});

it("asks each address once a day: HEAD, then GET where that is refused", async () => {
  answers.set("/get-only", (method) => (method === "HEAD" ? 405 : 200));
  await look(["/a", "/get-only"]);
  await look(["/a", "/get-only"]);
  expect(requests).toEqual(["HEAD /a", "HEAD /get-only", "GET /get-only"]);
  const { rows } = await database.pool.query("select url, answer, failures from external_links where project_id = $1", [
    projectId,
  ]);
  expect(rows.map(({ answer, failures }) => [answer, failures])).toEqual([
    ["good", 0],
    ["good", 0],
  ]);
  // Addresses that are no longer linked are deleted.
  await look(["/a"]);
  const left = await database.pool.query("select url from external_links where project_id = $1", [projectId]);
  expect(left.rows).toHaveLength(1);
});

it("counts a login or a rate limit neither way, and follows redirects", async () => {
  answers.set("/login", () => 403);
  answers.set("/gone", () => 410);
  const paths = ["/login", "/x?to=/a", "/x?to=/gone"];
  for (let day = 0; day < 2; day++) {
    expect(await look(paths)).toEqual([]);
    daysLater(1);
  }
  expect((await look(paths)).map((line) => line.slice(0, 14))).toEqual(["3 `/x?to=/gone"]);
});

it("says nothing while this server itself is offline", async () => {
  const offline: Fetch = async () => {
    throw new Error("network is unreachable");
  };
  const hosts = ["https://a.test/", "https://b.test/", "https://c.test/"];
  for (let day = 0; day < 5; day++) {
    expect(await look(hosts, offline)).toEqual([]);
    daysLater(1);
  }
});

it("never reaches this server's own network", async () => {
  const guarded = createForgeReach({ network: {}, allowPrivateForges: false });
  try {
    await look(["/a"], guarded.fetch);
    expect(requests).toEqual([]);
  } finally {
    await guarded.close();
  }
});
