import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  addContextRepository,
  listContextRepositories,
  openContextCredential,
  removeContextRepository,
} from "../accounts/projects/context-repositories.ts";
import { createSealer } from "../accounts/secrets.ts";
import { listTables } from "../backup/tables.ts";
import { rotateSecret } from "./rotate-kept-secret.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const oldSecret = "the old secret, of thirty-two or more";
const newSecret = "the new secret, of thirty-two or more";
const sealer = createSealer(oldSecret);
const github = (projectId: string, name: string) => ({
  projectId,
  name,
  forge: "github" as const,
  repositoryUrl: "https://github.com/acme/api",
  apiUrl: null,
  baseRef: null,
  credential: "ghp-token",
});

test("a project takes ten context repositories and no more, however many are added at once", async () => {
  const deps = { pool: database.pool, sealer };
  const projectId = await seedProject(database.pool);
  const add = (index: number) => addContextRepository(deps, github(projectId, `code-${index}`));
  for (let index = 0; index < 8; index += 1) await add(index);
  // As many requests at once as there are connections, for the two remaining places.
  const raced = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => add(8 + index)));
  expect(raced.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  const listed = await listContextRepositories(database.pool, projectId);
  expect(listed).toHaveLength(10);
  expect(listed[0]).toMatchObject({ forge: "github", hasCredential: true, baseRef: null });
  const name = listed[0]?.name ?? "";
  await expect(addContextRepository(deps, github(projectId, "one-more"))).rejects.toThrow(/at most 10/);
  expect(await removeContextRepository(database.pool, { projectId, name })).toBe(true);
  expect(await removeContextRepository(database.pool, { projectId, name })).toBe(false);
});

test("a name is one plain word, and each is used once", async () => {
  const deps = { pool: database.pool, sealer };
  const projectId = await seedProject(database.pool);
  await addContextRepository(deps, github(projectId, "api"));
  await expect(addContextRepository(deps, github(projectId, "API"))).rejects.toThrow(/already/);
  for (const name of ["", "a/b", "..", "@api", "a b", "x".repeat(64)]) {
    await expect(addContextRepository(deps, github(projectId, name))).rejects.toThrow(/name must have 1 to 63/);
  }
  await expect(addContextRepository(deps, github("prj_nobody", "api"))).rejects.toThrow(/project not found/);
});

test("its token is sealed, rotates with the secret, and its table is part of every backup", async () => {
  const { pool } = database;
  const projectId = await seedProject(pool);
  const { id } = await addContextRepository({ pool, sealer }, github(projectId, "api"));
  const { rows } = await pool.query("select credential from context_repositories where id = $1", [id]);
  expect(rows[0].credential.toString("latin1")).not.toContain("ghp-token");
  expect(await openContextCredential({ db: pool, sealer }, id)).toBe("ghp-token");
  await rotateSecret(pool, { from: [oldSecret], to: newSecret });
  expect(await openContextCredential({ db: pool, sealer: createSealer(newSecret) }, id)).toBe("ghp-token");
  await expect(openContextCredential({ db: pool, sealer }, id)).rejects.toThrow();
  expect((await listTables(pool)).map(({ name }) => name)).toContain("context_repositories");
});
