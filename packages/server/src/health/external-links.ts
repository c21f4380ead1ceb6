import { createKeyedMutex } from "@emend/base/locks.ts";
import type { Fetch } from "@emend/base/network.ts";
import type { Queryable } from "../db/pool.ts";

/**
 * Checks links to other sites and remembers the results: a failure is checked again on other days before it is
 * reported. Only the server sends requests, one at a time per host.
 */
export interface ExternalLinksDeps {
  db: Queryable;
  /** Must not reach internal addresses (SSRF guard). */
  fetch: Fetch;
  now(): Date;
  pause(ms: number, signal: AbortSignal): Promise<void>;
}

interface Link {
  url: string;
  path: string;
  line: number;
}

export interface DeadLink extends Link {
  message: string;
}

type Answer =
  | { kind: "good" }
  | { kind: "bad"; words: string; isReached: boolean }
  /** It may exist, but not for us: a login, a rate limit. */
  | { kind: "unsure"; words: string };

const hourMs = 3_600_000;
/** Each URL is checked once a day, a new one immediately. */
const askedEveryMs = 20 * hourMs;
const failuresMin = 3;
const failingMsMin = 48 * hourMs;
const linksMax = 2000;
const askedMax = 300;
const hostsAtOnce = 4;
const pauseMs = 1000;
const requestMsMax = 15_000;
const redirectsMax = 5;
const hostsForOutage = 3;
const agent = "Emend-link-check/1.0 (asks once a day whether links of documentation still work)";

// A mutex by host, for all projects.
const turns = createKeyedMutex({ waitingMax: 100_000 });

/** Checks the links that are due and returns those that have been dead for days. */
export async function checkExternalLinks(
  deps: ExternalLinksDeps,
  projectId: string,
  links: readonly Link[],
  signal: AbortSignal,
): Promise<DeadLink[]> {
  const kept = links.slice(0, linksMax);
  const urls = kept.map(({ url }) => url);
  await deps.db.query("delete from external_links where project_id = $1 and not (url = any ($2))", [projectId, urls]);
  const due = await listDue(deps, projectId, urls);
  const answers = await askAll(deps, due, signal);
  await store(deps, projectId, answers);
  return listDead(deps, projectId, kept);
}

async function listDue({ db, now }: ExternalLinksDeps, projectId: string, urls: readonly string[]): Promise<string[]> {
  const { rows } = await db.query<{ url: string; askedAt: Date }>(
    `select url, asked_at as "askedAt" from external_links where project_id = $1`,
    [projectId],
  );
  const asked = new Map(rows.map(({ url, askedAt }) => [url, askedAt.getTime()]));
  const before = now().getTime() - askedEveryMs;
  return urls
    .filter((url) => (asked.get(url) ?? 0) <= before)
    .sort((a, b) => (asked.get(a) ?? 0) - (asked.get(b) ?? 0))
    .slice(0, askedMax);
}

async function askAll(
  deps: ExternalLinksDeps,
  urls: readonly string[],
  signal: AbortSignal,
): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>();
  const hosts = [...Map.groupBy(urls, (url) => new URL(url).host)];
  async function next(): Promise<void> {
    for (let host = hosts.shift(); host !== undefined; host = hosts.shift()) {
      const [name, own] = host;
      for (const url of own) {
        const answer = await turns.run(name, async () => {
          const found = await ask(deps, url, signal);
          await deps.pause(pauseMs, signal);
          return found;
        });
        if (answer !== null) answers.set(url, answer);
      }
    }
  }
  const hostCount = hosts.length;
  await Promise.all(Array.from({ length: hostsAtOnce }, next));
  // If no host could be reached, this server is offline, which says nothing about the links.
  const isOutage = [...answers.values()].every((answer) => answer.kind === "bad" && !answer.isReached);
  return isOutage && hostCount >= hostsForOutage ? new Map() : answers;
}

/** HEAD, and GET if that is refused: some servers only answer GET as they answer browsers. */
async function ask({ fetch }: ExternalLinksDeps, url: string, signal: AbortSignal): Promise<Answer> {
  let answer: Answer = { kind: "bad", words: "no answer", isReached: false };
  for (const method of ["HEAD", "GET"]) {
    let at = url;
    for (let hops = 0; ; hops++) {
      const step = await request(fetch, at, method, signal);
      if (typeof step !== "string") {
        answer = step;
        break;
      }
      if (hops >= redirectsMax) return { kind: "bad", words: "too many redirects", isReached: true };
      const target = URL.parse(step, at);
      if (target === null || !/^https?:$/.test(target.protocol))
        return { kind: "unsure", words: "redirects elsewhere" };
      at = target.href;
    }
    if (answer.kind === "good") return answer;
  }
  return answer;
}

/** A response, or its redirect target. */
async function request(fetch: Fetch, url: string, method: string, signal: AbortSignal): Promise<Answer | string> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(requestMsMax)]);
    const headers = { "user-agent": agent, accept: "*/*" };
    const { status, headers: got, body } = await fetch(url, { method, headers, redirect: "manual", signal: limit });
    // Only the status counts; the body is not read.
    if (body !== null) for await (const _ of body) break;
    const location = got.get("location");
    if (status >= 300 && status < 400 && location !== null) return location;
    if (status < 400) return { kind: "good" };
    const isUnsure = [401, 402, 403, 407, 408, 425, 429, 451].includes(status) || status === 999;
    return isUnsure
      ? { kind: "unsure", words: String(status) }
      : { kind: "bad", words: String(status), isReached: true };
  } catch {
    signal.throwIfAborted();
    return { kind: "bad", words: "no answer", isReached: false };
  }
}

async function store({ db, now }: ExternalLinksDeps, projectId: string, answers: ReadonlyMap<string, Answer>) {
  for (const [url, answer] of answers) {
    await db.query(
      `insert into external_links (project_id, url, asked_at, good_at, failing_since, failures, answer)
       select id, $2, $3, case when $4 = 'good' then $3::timestamptz end,
         case when $4 = 'bad' then $3::timestamptz end, case when $4 = 'bad' then 1 else 0 end, $5
       from projects where id = $1
       on conflict (project_id, url) do update set asked_at = excluded.asked_at, answer = excluded.answer,
         good_at = coalesce(excluded.good_at, external_links.good_at),
         failing_since = case $4 when 'good' then null when 'bad' then coalesce(external_links.failing_since, $3)
           else external_links.failing_since end,
         failures = case $4 when 'good' then 0 when 'bad' then external_links.failures + 1
           else external_links.failures end`,
      [projectId, url, now(), answer.kind, answer.kind === "good" ? "good" : answer.words],
    );
  }
}

async function listDead(
  { db, now }: ExternalLinksDeps,
  projectId: string,
  links: readonly Link[],
): Promise<DeadLink[]> {
  const { rows } = await db.query<{ url: string; since: Date; goodAt: Date | null; failures: number; answer: string }>(
    `select url, failing_since as since, good_at as "goodAt", failures, answer from external_links
     where project_id = $1 and failures >= $2 and failing_since <= $3`,
    [projectId, failuresMin, new Date(now().getTime() - failingMsMin)],
  );
  const dead = new Map(rows.map((row) => [row.url, row]));
  return links.flatMap((link) => {
    const row = dead.get(link.url);
    if (row === undefined) return [];
    const day = (date: Date): string => date.toISOString().slice(0, 10);
    const good = row.goodAt === null ? "it never answered well" : `its last good answer was on ${day(row.goodAt)}`;
    const message = `\`${link.url}\` has failed since ${day(row.since)} (${row.failures} times, last: ${row.answer}); ${good}. Correct or remove the link.`;
    return { ...link, message };
  });
}
