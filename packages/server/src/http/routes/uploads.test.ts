import { once } from "node:events";
import { request } from "node:http";
import { startApi } from "@emend/testkit/api.ts";
import { makePdf, makePng } from "@emend/testkit/pictures.ts";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { dropRunContents, dropUploads } from "../../tasks/housekeeping.ts";

const model = "anthropic/claude-sonnet-4-5";
const api = await startApi({ defaultModel: model, modelPrices: {} });
afterAll(() => api.close());
const project = await api.addProject({ models: ["emend/rules", "compatible/llama-4"] });
const other = await api.addProject();
const key = await api.addKey(project);
const otherKey = await api.addKey(other);
beforeEach(async () => void (await api.pool.query("delete from uploads where job_id is null")));

const upload = (bytes: Buffer, { type = "image/png", name = "login.png", of = project, by = key } = {}) =>
  api.send(`/v2/agent/${of.id}/upload?name=${encodeURIComponent(name)}`, {
    method: "POST",
    key: by,
    body: bytes,
    headers: { "content-type": type },
  });
const create = (body: object) => api.send(`/v2/agent/${project.id}/job`, { method: "POST", key, body });
const idOf = (answer: { json: unknown }) => (answer.json as { id: string }).id;

describe("a file", () => {
  test("is stored without what its sender did not mean to show, under its own name", async () => {
    const answer = await upload(makePng(), { name: "C:\\Users\\Ann\\lo\ngin<1>.png" });
    expect(answer).toMatchObject({
      status: 201,
      json: { name: "lo_gin_1_.png", type: "image/png", width: 4, height: 3 },
    });
    const { rows } = await api.pool.query("select picture from uploads where id = $1", [idOf(answer)]);
    expect(rows[0].picture.includes("taken at home")).toBe(false);
  });

  test("that is a PDF keeps its text, without credentials", async () => {
    const line = `The port is 4610. key: ghp_${"a1B2c3D4".repeat(5).slice(0, 36)}`;
    const answer = await upload(makePdf(line), { type: "application/pdf", name: "spec.pdf" });
    expect(answer).toMatchObject({ status: 201, json: { name: "spec.pdf", type: "application/pdf", width: null } });
    const { rows } = await api.pool.query("select text from uploads where id = $1", [idOf(answer)]);
    expect(rows[0].text).toContain("The port is 4610.");
    expect(rows[0].text).not.toContain("ghp_");
  });

  test.each([
    ["no picture", 400, Buffer.from("not a picture"), "image/png"],
    ["nothing", 400, Buffer.alloc(0), "image/png"],
    ["a PDF that cannot be read", 400, Buffer.from("%PDF-1.7\n garbage"), "application/pdf"],
    ["a PDF without text", 400, makePdf(""), "application/pdf"],
    ["too many pixels", 400, makePng({ width: 20_000, height: 20_000 }), "image/png"],
    ["too many bytes", 413, Buffer.alloc(5 * 2 ** 20 + 1), "image/png"],
    ["another type", 415, Buffer.from("<svg/>"), "image/svg+xml"],
  ])("with %s is refused, and nothing is stored", async (_, status, bytes, type) => {
    const answer = await upload(bytes, { type });
    expect(answer).toMatchObject({ status, json: { error: expect.any(String) } });
    if (status === 413) expect(answer.json).toMatchObject({ error: "The body is larger than 5 MiB." });
    expect((await api.pool.query("select 1 from uploads where job_id is null")).rowCount).toBe(0);
  });

  test("needs a key that may write to the project", async () => {
    const reading = await api.addKey(project, { scope: "read" });
    expect((await upload(makePng(), { by: reading })).status).toBe(403);
    expect((await upload(makePng(), { by: otherKey })).status).toBe(404);
  });

  test("is the third at once of a key: it waits, and other keys do not", async () => {
    const png = makePng();
    const slow = [1, 2].map(() => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "image/png", "content-length": png.length };
      const sent = request(`${api.url}/v2/agent/${project.id}/upload`, { method: "POST", headers });
      sent.flushHeaders();
      return { sent, answered: once(sent, "response") };
    });
    await expect.poll(async () => (await upload(png)).status).toBe(429);
    expect((await upload(png, { of: other, by: otherKey })).status).toBe(201);
    for (const { sent, answered } of slow) {
      sent.end(png);
      const [answer] = await answered;
      expect(answer.resume().statusCode).toBe(201);
    }
    await expect.poll(async () => (await upload(png)).status).toBe(201);
  });

  test("too many that no prompt names are refused, and go after a day", async () => {
    await api.pool.query(
      `insert into uploads (id, project_id, name, type, text, created_by, created_at)
       select 'upl_' || number, $1, 'x', 'application/pdf', 'x', 'test', now() - interval '25 hours'
       from generate_series(1, 50) number`,
      [project.id],
    );
    expect((await upload(makePng())).status).toBe(429);
    expect(await dropUploads(api.pool)).toBe(50);
    expect((await upload(makePng())).status).toBe(201);
    expect(await dropUploads(api.pool)).toBe(0);
  });
});

describe("a prompt that names files", () => {
  test("is stored with a line for each, and the files are the job's from then on", async () => {
    const files = [idOf(await upload(makePng())), idOf(await upload(makePdf("Hello"), { type: "application/pdf" }))];
    const created = await create({ prompt: "Describe it.", files });
    expect(created.status).toBe(201);
    const { rows } = await api.pool.query("select prompt from jobs where id = $1", [idOf(created)]);
    expect(rows[0].prompt).toBe(
      `Describe it.\n\nAttached:\n- ${files[0]}: login.png (picture, 4 × 3)\n- ${files[1]}: login.png (5 characters)`,
    );
    const again = await create({ prompt: "Describe it.", files });
    expect(again).toMatchObject({ status: 400, text: expect.stringContaining("another job has one") });
    const message = { prompt: "And this.", files: [files[0], idOf(await upload(makePng()))] };
    const heard = await api.send(`/v2/agent/${project.id}/job/${idOf(created)}/message`, {
      method: "POST",
      key,
      body: message,
    });
    expect(heard.status).toBe(200);
    const said = await api.pool.query("select prompt from job_interjections where job_id = $1", [idOf(created)]);
    expect(said.rows[0].prompt).toContain(`Attached:\n- ${files[0]}`);
    const owned = () => api.pool.query("select 1 from uploads where job_id = $1", [idOf(created)]);
    expect((await owned()).rowCount).toBe(3);
    await api.pool.query("update jobs set status = 'completed', ended_at = now() - interval '8 days' where id = $1", [
      idOf(created),
    ]);
    await dropRunContents(api.pool, 7);
    expect((await owned()).rowCount).toBe(0);
  });

  test("of more bytes than a job may have are refused, and no job is made", async () => {
    const picture = idOf(await upload(makePng()));
    await api.pool.query("update uploads set picture = repeat('x', $2)::bytea where id = $1", [
      picture,
      50 * 2 ** 20 + 1,
    ]);
    const refused = await create({ prompt: "All of it.", files: [picture] });
    expect(refused).toMatchObject({ status: 400, text: expect.stringContaining("can have 50 MB together") });
    expect((await api.pool.query("select 1 from jobs where prompt like 'All of it.%'")).rowCount).toBe(0);
  });

  test("with a key for repeats makes one job, and another file is another body", async () => {
    const files = [idOf(await upload(makePng()))];
    const send = (body: object) =>
      api.send(`/v2/agent/${project.id}/job`, { method: "POST", key, body, headers: { "idempotency-key": "k1" } });
    const first = await send({ prompt: "Once.", files });
    expect(await send({ prompt: "Once.", files })).toMatchObject({ status: 201, json: { id: idOf(first) } });
    // Sent again with its files, which have new ids.
    const same = { prompt: "Once.", files: [idOf(await upload(makePng()))] };
    expect(await send(same)).toMatchObject({ status: 201, json: { id: idOf(first) } });
    expect((await send({ prompt: "Once.", files: [idOf(await upload(makePng({ width: 9 })))] })).status).toBe(409);
  });

  test("is refused where the model sees none, the file is another project's or there are too many: no job is made", async () => {
    const jobs = async () => (await api.pool.query("select count(*)::int as count from jobs")).rows[0].count;
    const before = await jobs();
    const picture = idOf(await upload(makePng()));
    const foreign = idOf(await upload(makePng(), { of: other, by: otherKey }));
    const refused = [
      [{ model: "emend/rules", files: [picture] }, "needs a language model"],
      [{ model: "compatible/llama-4", files: [picture] }, "cannot see pictures"],
      [{ files: [foreign] }, "has no upload"],
      [{ files: ["upl_nothing"] }, "has no upload"],
      [{ files: Array.from({ length: 11 }, () => picture) }, "files"],
      [{ files: "upl" }, "files"],
    ] as const;
    for (const [body, words] of refused) {
      expect(await create({ prompt: "x", ...body })).toMatchObject({
        status: 400,
        text: expect.stringContaining(words),
      });
    }
    expect(await jobs()).toBe(before);
    const text = idOf(await upload(makePdf("Hello"), { type: "application/pdf" }));
    expect((await create({ prompt: "x", model: "compatible/llama-4", files: [text] })).status).toBe(201);
  });
});
