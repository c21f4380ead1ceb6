import { fileURLToPath } from "node:url";
import { trySandbox } from "@emend/runners";
import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { type FarKnowledge, startFarKnowledge } from "@emend/testkit/knowledge-server.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { startBound } from "@emend/tree";
import { afterAll, beforeAll, expect, test } from "vitest";
import { addKnowledgeServer, findKnowledgeServer } from "../accounts/projects/knowledge-servers.ts";
import { createSealer } from "../accounts/secrets.ts";
import { readKnowledgeTools } from "./knowledge-reach.ts";

let database: TestDatabase;
let far: FarKnowledge;
beforeAll(async () => {
  database = await createTestDatabase();
  far = await startFarKnowledge([{ name: "search", answer: () => "x" }]);
});
afterAll(async () => {
  await far.stop();
  await database.drop();
});

const sealer = createSealer("a secret of thirty-two characters");
const signal = AbortSignal.timeout(60_000);

type Programs = Parameters<typeof readKnowledgeTools>[0]["config"]["knowledgePrograms"]["byName"];

async function ask(
  url: string,
  { address = "127.0.0.1", allowPrivateKnowledge = false, programs = {} as Programs } = {},
) {
  const deps = { pool: database.pool, db: database.pool, sealer };
  const at = { projectId: await seedProject(database.pool), name: "notion" };
  await addKnowledgeServer(deps, { ...at, url, credential: null });
  const config = {
    network: {},
    allowPrivateKnowledge,
    knowledgePrograms: { path: process.env.PATH ?? "", byName: programs },
  };
  const resolve = (_: string, done: (error: null, found: { address: string; family: number }[]) => void) =>
    done(null, [{ address, family: 4 }]);
  return readKnowledgeTools({ ...deps, config, resolve }, await findKnowledgeServer(database.pool, at), signal);
}

test("names and addresses of private networks are refused, and metadata services always", async () => {
  const named = far.url.replace("127.0.0.1", "notion.test");
  const refused = { message: "is on a private network" };
  await expect(ask(named)).rejects.toMatchObject(refused);
  await expect(ask(far.url)).rejects.toMatchObject(refused);
  await expect(ask("http://[::ffff:127.0.0.1]:1/mcp")).rejects.toMatchObject(refused);
  const allowed = { allowPrivateKnowledge: true };
  await expect(ask("http://169.254.169.254/mcp", allowed)).rejects.toMatchObject(refused);
  await expect(ask(named, { ...allowed, address: "169.254.169.254" })).rejects.toMatchObject(refused);
  expect(await ask(named, allowed)).toMatchObject([{ name: "search" }]);
});

test.each(["ftp://x", "https://user:pass@x/mcp", "https://x/mcp#part", "no"])("%j is no address", async (url) => {
  await expect(ask(url)).rejects.toMatchObject({ code: "invalid_request" });
});

const sandbox = await trySandbox(startBound, process.env.PATH ?? "");
test.skipIf(sandbox.kind !== "usable")(
  "a program of the operator's configuration is started (needs bubblewrap)",
  async () => {
    const file = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"));
    const folders = [file.slice(0, file.indexOf("/@modelcontextprotocol/"))];
    const programs: Programs = { everything: { command: ["node", file, "stdio"], folders, env: {} } };
    expect((await ask("program:everything", { programs })).map(({ name }) => name)).toContain("echo");
  },
);

test("a program that the operator's configuration does not name is not started", async () => {
  await expect(ask("program:other")).rejects.toMatchObject({
    message: "needs the program other, which EMEND_KNOWLEDGE_PROGRAMS does not name",
  });
});
