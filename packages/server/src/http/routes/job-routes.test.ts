import { startApi } from "@emend/testkit/api.ts";
import { afterAll, expect, test } from "vitest";

const api = await startApi();
afterAll(() => api.close());

test("a key lists the projects that it covers, oldest first, and no other", async () => {
  const [one, two, other] = [await api.addProject(), await api.addProject(), await api.addProject()];
  const key = await api.addKey(one, { projectIds: [two.id, one.id], scope: "read" });
  const shown = ({ id }: { id: string }) => ({
    id,
    name: "docs",
    repository: "https://github.test/acme/docs",
    baseRef: null,
  });
  const answer = await api.send("/v2/projects", { key });
  expect(answer).toMatchObject({ status: 200, json: { projects: [shown(one), shown(two)] } });
  expect(answer.text).not.toContain(other.id);
  expect((await api.send("/v2/projects")).status).toBe(401);
  expect(await api.send("/v2/projects", { method: "POST", key, body: {} })).toMatchObject({
    status: 405,
    json: { error: "Method not allowed. Use GET." },
  });
});
