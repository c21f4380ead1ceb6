import { createTestDatabase, type TestDatabase } from "@emend/testkit/database.ts";
import { type FarComment, type FarEnd, startFarEnd } from "@emend/testkit/forges/far-end.ts";
import { everyVendor } from "@emend/testkit/forges/vendors.ts";
import { seedJobPull } from "@emend/testkit/job-pull.ts";
import { seedProject } from "@emend/testkit/seed-jobs.ts";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { hastenPoll } from "../src/jobs/pull-requests.ts";
import { startRound } from "../src/jobs/start-round.ts";
import { pollOnce } from "../src/run/watch-pull-requests.ts";

const { signal } = new AbortController();
const commit = "0123456789abcdef0123456789abcdef01234567";
let database: TestDatabase;
let projectId: string;
beforeAll(async () => {
  database = await createTestDatabase();
  projectId = await seedProject(database.pool);
});
afterAll(() => database.drop());

describe.each(everyVendor)("answers on $label", ({ label, ...vendor }) => {
  /** Releases that cannot answer in a thread. */
  const isFlat = label === "an older gitea" || label === "forgejo";
  const hasReviews = vendor.name === "github" || vendor.name === "gitea";
  let far: FarEnd;
  let bench: Awaited<ReturnType<typeof seedJobPull>>;
  beforeAll(async () => {
    far = await startFarEnd(vendor);
  });
  afterAll(async () => {
    await far.close();
    expect(far.violations).toEqual([]);
  });
  beforeEach(async () => {
    far.state.comments = [];
    far.state.reviews = [];
    bench = await seedJobPull(database.pool, far, projectId);
    // Its rules would not understand the requests below.
    await database.pool.query("update jobs set model = 'openai/gpt-5', pushed = true");
  });
  const at = (id: number) => new Date(id * 1000).toISOString();
  function say(body: string, more: Partial<FarComment> = {}): void {
    const id = more.id ?? far.state.comments.length + 1;
    far.state.comments.push({ id, pull: bench.number, author: "ada", body, at: at(id), ...more });
  }
  const place = { path: "guides/start.md", line: 3 };
  async function hear(): Promise<void> {
    await hastenPoll(database.pool, { projectId, number: bench.number });
    await pollOnce(bench.deps, signal);
  }
  async function end(assignments: string): Promise<void> {
    await bench.end(assignments);
    for (let time = 0; time < 2; time += 1) await bench.sendAnswers();
  }
  const said = () => bench.answers().map(({ body, replyTo }) => [replyTo ?? null, body.split("\n")[0]]);

  it("a comment on a line in its thread, with the commit that addresses it", async () => {
    say("@emend say it shorter", place);
    await hear();
    await end(`commit_id = '${commit}', reply = 'Said it <b>shorter</b>, @eve.'`);
    const words = `Done in ${commit}. Said it &lt;b>shorter&lt;/b>, \`@eve\`.`;
    expect(said()).toEqual([isFlat ? [null, `About guides/start.md, line 3: ${words}`] : [1, words]]);
    // An answer to the answer, in the same thread.
    say("@emend and shorter", { ...place, id: 1200, replyTo: 1, ...(vendor.name === "gitea" && { review: 5001 }) });
    await hear();
    await end("commit_id = null, reply = 'The page says it already.'");
    const second = "No change was needed. The page says it already.";
    expect(said()[1]).toEqual(isFlat ? [null, `About guides/start.md, line 3: ${second}`] : [1, second]);
  });

  it("a comment on the whole with a comment, and not what came from elsewhere", async () => {
    say("@emend say it shorter");
    await hear();
    await end(`commit_id = '${commit}', failure_code = 'internal', failure_message = 'It broke <b>.'`);
    expect(said()).toEqual([[null, "It broke &lt;b>."]]);
    await startRound(database.pool, { id: bench.jobId, prompt: "More.", createdBy: "key/k" });
    await end(`commit_id = '${commit}'`);
    expect(said()).toHaveLength(1);
  });

  it("what was done, although the next round began at once", async () => {
    say("@emend say it shorter", place);
    await hear();
    await bench.end(`commit_id = '${commit}', reply = 'Shorter.'`);
    await startRound(database.pool, { id: bench.jobId, prompt: "More.", createdBy: "key/k" });
    await bench.sendAnswers();
    expect(said()).toEqual([[isFlat ? null : 1, expect.stringContaining(`Done in ${commit}. Shorter.`)]]);
  });

  it("each thread of a review that requests changes, and the review, once through kills", async () => {
    if (!hasReviews) return;
    far.state.reviews.push({
      id: 88,
      pull: bench.number,
      author: "ada",
      body: "Tighten it.",
      state: "changes",
      at: at(9),
    });
    say("Too long.", { ...place, review: 88 });
    say("Too old.", { ...place, line: 5, review: 88 });
    await hear();
    await bench.end(`commit_id = '${commit}', reply = 'Both.'`);
    for (const left of [0, 1, 2]) {
      let posts = left;
      const dies = <A extends unknown[], R>(send: (...args: A) => Promise<R>) => {
        return async (...args: A): Promise<R> => {
          posts -= 1;
          if (posts < 0) throw new Error("killed");
          return send(...args);
        };
      };
      const forgeOf = async () => {
        const forge = far.open();
        if (!forge.conversation) return forge;
        const { conversation } = forge;
        return {
          ...forge,
          conversation: { ...conversation, comment: dies(conversation.comment), reply: dies(conversation.reply) },
        };
      };
      await bench.sendAnswers(forgeOf).catch(() => {});
    }
    await bench.sendAnswers();
    const whole = [null, `Done in ${commit}. Both.`];
    const brief = `Done in ${commit}.`;
    expect(said()).toEqual(isFlat ? [whole] : [[1, brief], [2, brief], whole]);
  });

  it("a comment whose thread is gone with a comment on the whole", async () => {
    say("@emend say it shorter", place);
    await hear();
    far.state.comments = [];
    await end(`commit_id = '${commit}'`);
    expect(said()).toEqual([[null, `Done in ${commit}.`]]);
  });
});
