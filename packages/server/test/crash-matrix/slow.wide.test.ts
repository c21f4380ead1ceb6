import { generateKeyPairSync } from "node:crypto";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Forge } from "@emend/forges";
import { startTestForge, type TestForge } from "@emend/testkit/forge.ts";
import type { FarEnd } from "@emend/testkit/forges/far-end.ts";
import { githubVendor } from "@emend/testkit/forges/github.ts";
import { type FarPublisher, startFarPublisher } from "@emend/testkit/forges/publish-far.ts";
import { openPull, plainPull } from "@emend/testkit/forges/pulls.ts";
import { createOperation, vendors } from "@emend/testkit/forges/vendors.ts";
import { publishTestJob } from "@emend/testkit/publish-job.ts";
import { seedJob } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

/**
 * A second takes 20 ms here, so that an answer after 300 s is one after 6 s. A busy machine answers within that.
 * `EMEND_SLOW_SECOND_MS=1000` runs the same cells in real time.
 */
const secondMs = Number(process.env.EMEND_SLOW_SECOND_MS ?? 20);
const waitFirst = "wait first";
const effects = [waitFirst, "effect first"] as const;
const cells = [5, 15, 60, 300].flatMap((seconds) => effects.map((effect) => ({ seconds, effect })));
const timeout = 20_000 + 900 * secondMs;
const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const appCredential = JSON.stringify({ appId: "5", privateKey: privateKey.export({ type: "pkcs8", format: "pem" }) });
const remote = [
  ...vendors.map((vendor) => ({ name: vendor.name as string, vendor, isApp: false })),
  { name: "app", vendor: githubVendor, isApp: true },
];

const appForge = (far: FarEnd) => far.open({ verifiedCommits: true }, appCredential);

function delaysOf({ seconds, effect }: (typeof cells)[number]) {
  const ms = seconds * secondMs;
  return effect === waitFirst ? { beforeMs: ms, afterMs: 0 } : { beforeMs: 0, afterMs: ms };
}

// Forges run concurrently, because they mostly wait. The cells of one forge run in order, because they share a server.
describe.each(remote)("$name, when it is slow", { concurrent: true, timeout }, ({ name, vendor, isApp }) => {
  let publisher: FarPublisher;
  beforeAll(async () => {
    publisher = await startFarPublisher(vendor);
    publisher.secondMs = secondMs;
  });
  afterAll(async () => {
    await publisher.close();
    expect(publisher.far.violations).toEqual([]);
  });

  it.each(cells)("opens one pull request, $effect, answered after $seconds s", { concurrent: false }, async (cell) => {
    const { far } = publisher;
    const jobId = `job_${name}${cell.seconds}${cell.effect === waitFirst ? "late" : "early"}`;
    const forge = isApp ? appForge(far) : far.open();
    far.fault(createOperation[far.vendor], { kind: "late", ...delaysOf(cell) });
    const outcome = await publisher.publish(jobId, { forge });
    expect(["opened", "found"]).toContain(outcome.kind);
    // What was still under way has happened by now.
    await pause(cell.seconds * secondMs);
    expect(far.pullsOf(`emend/${jobId}`)).toMatchObject([{ state: "open" }]);
  });

  it("gets no second request while the first may still be carried out", { concurrent: false }, async () => {
    const { far } = publisher;
    const jobId = `job_${name}late`;
    const operation = createOperation[far.vendor];
    const creates = () => far.requests.filter((request) => request.operation === operation).length;
    const before = creates();
    const forge = isApp ? appForge(far) : far.open();
    // Soon after Emend stopped waiting (300 s), so that it is still looking.
    far.fault(operation, { kind: "late", beforeMs: 310 * secondMs, afterMs: 0 });
    const outcome = await publisher.publish(jobId, { forge });
    expect(creates()).toBe(before + 1);
    expect(outcome.kind).toBe("found");
    expect(publisher.warnings.at(-1)).toBe("The pull request was opened late");
    expect(far.pullsOf(`emend/${jobId}`)).toMatchObject([{ state: "open" }]);
  });

  it("is asked only after it is stored that this may take effect: Emend may die while it waits", async () => {
    const forge = isApp ? appForge(publisher.far) : publisher.far.open();
    const jobId = `job_${name}stored`;
    const stored: boolean[] = [];
    const asking: Forge = {
      ...forge,
      createPullRequest(draft, signal) {
        stored.push(publisher.mayStillOpen(jobId));
        return forge.createPullRequest(draft, signal);
      },
    };
    await publisher.publish(jobId, { forge: asking });
    expect(stored).toEqual([true]);
  });

  it("sends it again to a server that dropped it when Emend left", { concurrent: false }, async () => {
    const { far } = publisher;
    const jobId = `job_${name}dropped`;
    const operation = createOperation[far.vendor];
    far.fault(operation, { kind: "late", beforeMs: 320 * secondMs, afterMs: 0, isDropped: true });
    const creates = () => far.requests.filter((request) => request.operation === operation).length;
    const before = creates();
    const outcome = await publisher.publish(jobId, { forge: isApp ? appForge(far) : far.open() });
    expect(["opened", "found"]).toContain(outcome.kind);
    expect(creates()).toBeGreaterThan(before + 1);
    expect(far.pullsOf(`emend/${jobId}`)).toMatchObject([{ state: "open" }]);
  });

  it("closes the younger of two that appear after all, and says so", { concurrent: false }, async () => {
    const { far, warnings } = publisher;
    const jobId = `job_${name}two`;
    const open = createOperation[far.vendor];
    // The first request takes longer than any limit: it is carried out while the second one is.
    const meanwhile = () => {
      const body = `<!-- emend:job=${jobId} -->`;
      openPull(far.state, plainPull({ head: `emend/${jobId}`, base: "main", title: "T", body }));
    };
    far.fault(open, { kind: "ignored", how: "silence" });
    far.fault(open, { kind: "late", beforeMs: 0, afterMs: 0, meanwhile });
    const outcome = await publisher.publish(jobId, { forge: isApp ? appForge(far) : far.open() });
    const pulls = far.pullsOf(`emend/${jobId}`);
    expect(pulls.map(({ state }) => state)).toEqual(["open", "closed"]);
    expect(outcome).toMatchObject({ pullRequest: { number: pulls[0]?.number } });
    expect(warnings.at(-1)).toMatch(/opened two pull requests for this job: \d+ and \d+\. Emend closed \d+/);
  });
});

describe("the local forge, when it is slow", { timeout }, () => {
  let host: TestForge;
  beforeAll(async () => {
    host = await startTestForge();
    await mkdir(join(host.dir, "docs/guides"), { recursive: true });
    await writeFile(join(host.dir, "docs/guides/start.md"), "# Start\n\nUse your API token.\n");
    await host.addProject("prj_slow", join(host.dir, "docs"));
  });
  afterAll(() => host.close());

  it.each(cells)("opens one pull request, $effect, answered after $seconds s", async (cell) => {
    const jobId = await seedJob(host.database.pool, "prj_slow");
    const forge = host.open("prj_slow");
    const { beforeMs, afterMs } = delaysOf(cell);
    const slow: Forge["createPullRequest"] = async (draft) => {
      await pause(beforeMs);
      const created = await forge.createPullRequest(draft, host.signal);
      await pause(afterMs);
      return created;
    };
    const node = { pool: host.database.pool, git: host.git, mirrorsDir: join(host.dir, "mirrors") };
    const more = { deps: () => ({ secondMs }) };
    const outcome = await publishTestJob({ ...node, forge: { ...forge, createPullRequest: slow } }, jobId, more);
    expect(["opened", "found"]).toContain(outcome.kind);
    expect(await forge.findPullRequests({ head: `emend/${jobId}` }, host.signal)).toHaveLength(1);
  });
});
