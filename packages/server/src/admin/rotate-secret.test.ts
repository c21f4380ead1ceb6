import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openModelKey, setModelKey } from "../accounts/keys/model-keys.ts";
import { openProjectCredential } from "../accounts/projects/projects.ts";
import { addProject } from "../accounts/projects/save-project.ts";
import { createSealer } from "../accounts/secrets.ts";
import { sealedColumns } from "../installation/sealed-values.ts";
import { addWebhook, openWebhookUrl } from "../notify/webhooks.ts";
import { rotateSecret } from "./rotate-kept-secret.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test("everything sealed opens with the new secret alone; a wrong old one changes nothing", async () => {
  const oldSecret = "the old secret, of thirty-two or more";
  const secrets = { from: [oldSecret], to: "the new secret, of thirty-two or more" };
  const db = database.pool;
  const old = { db, sealer: createSealer(oldSecret) };
  const { id } = await addProject(old, {
    name: "Docs",
    forge: "github",
    repositoryUrl: "https://github.com/a/b",
    credential: "forge-token",
  });
  await setModelKey(old, { projectId: id, vendor: "openai", key: "sk-model" });
  const url = "https://hooks.example.com/a/long/and/secret/path";
  await addWebhook({ ...old, allowPrivate: false }, { projectId: id, url });

  await expect(rotateSecret(db, { from: ["quite another secret than the old"], to: secrets.to })).rejects.toThrow();
  expect(await openModelKey(old, id, "openai")).toBe("sk-model");

  expect(await rotateSecret(db, secrets)).toEqual({ resealed: 4 });
  const fresh = { db, sealer: createSealer(secrets.to) };
  expect(await openProjectCredential(fresh, id)).toBe("forge-token");
  expect(await openModelKey(fresh, id, "openai")).toBe("sk-model");
  await expect(openModelKey(old, id, "openai")).rejects.toThrow();
  const { rows } = await db.query(`select id as "webhookId", url, sealed_url as "sealedUrl" from webhooks`);
  expect(openWebhookUrl(fresh.sealer, rows[0])).toBe(url);
  expect(() => openWebhookUrl(old.sealer, rows[0])).toThrow();
  expect(await rotateSecret(db, secrets)).toEqual({ resealed: 4 });
});

/** Bytes that are not an encrypted credential. */
const hashesAndContents =
  /_hash$|^claims\.hash$|^jobs\.(?:working_)?diff$|^overlay\.content$|^uploads\.picture$|^passkeys\.public_key$|^page_pictures\.(?:webp|page)$|^login_links\.seed$/;

test("every bytea column is encrypted again, or listed as not encrypted", async () => {
  const { rows } = await database.pool.query<{ name: string }>(
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and data_type = 'bytea' order by 1`,
  );
  const sealed = rows.map(({ name }) => name).filter((name) => !hashesAndContents.test(name));
  expect(sealed).toEqual(sealedColumns.map(({ column }) => column).sort());
});
