import type { PullRequest } from "@emend/forges";
import { expect, it } from "vitest";
import { findOwnPullRequest, pickPullRequest } from "./ensure-pull-request.ts";
import type { PublishDeps } from "./publication.ts";
import { createWriteQueue } from "./write-queue.ts";

const pull = (number: number, state: PullRequest["state"], body = "") => ({ number, state, body }) as PullRequest;

it("an open pull request counts more than a newer one that is closed or merged", () => {
  expect(pickPullRequest([pull(3, "closed"), pull(2, "merged"), pull(1, "open")])).toMatchObject({
    kind: "found",
    pullRequest: { number: 1 },
  });
  expect(pickPullRequest([pull(3, "closed"), pull(2, "merged")])).toMatchObject({ kind: "closed" });
  expect(pickPullRequest([])).toBeNull();
});

it("a pull request without the job's marker is not the job's, whatever its branch", async () => {
  const listed = [pull(2, "open", "By hand"), pull(1, "closed", "<!-- emend:job=job_1 -->")];
  const deps = {
    forge: { credentialId: "c", findPullRequests: async () => listed },
    writes: createWriteQueue(),
  } as unknown as PublishDeps;
  const search = { head: "emend/job_1", base: "main" };
  const found = await findOwnPullRequest(deps, search, "job_1", AbortSignal.timeout(5_000));
  expect(found).toMatchObject({ kind: "closed", pullRequest: { number: 1 } });
  expect(await findOwnPullRequest(deps, search, "job_2", AbortSignal.timeout(5_000))).toBeNull();
});
