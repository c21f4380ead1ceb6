import { unseenCharacters } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";
import { isAppError } from "../errors.ts";
import type { Git } from "../tree/git.ts";
import type { Remote } from "../tree/mirror.ts";
import { listRemote } from "../tree/resolve-base.ts";
import type { AutomationDeps } from "./automations.ts";
import { claimLook, type Look } from "./claim-look.ts";
import { type Push, readPush } from "./read-push.ts";
import { type PushRecord, recordPushes } from "./record-pushes.ts";
import { passingFiles, pushesSince, type RefEvent, watchedRefs } from "./select-refs.ts";
import { dayOf } from "./values.ts";

/** What only a node with git can give. */
export interface PushDeps {
  git: Git;
  remoteOf(repositoryId: string, signal: AbortSignal): Promise<Remote>;
}

const looksMax = 200;
/** So that a repository that does not answer holds up no other. */
const looksAtOnce = 4;
/** What else was pushed is read at the next look. */
const eventsMax = 20;
const lookMsMax = 10 * 60_000;

/**
 * Looks at the repositories of every push trigger whose time has come: by itself every few minutes, at once where a
 * forge's webhook gave a hint. What happened is read from the repository and never believed of the hint.
 */
export async function lookAtPushes(deps: Pick<AutomationDeps, "pool" | "log"> & PushDeps): Promise<void> {
  let looks = 0;
  async function lookInTurn(): Promise<void> {
    while (looks++ < looksMax) {
      const look = await claimLook(deps.pool);
      if (!look) return;
      try {
        await lookAt(deps, look, AbortSignal.timeout(lookMsMax));
      } catch (error) {
        deps.log.warn({ err: error, automationId: look.id }, "context repository could not be looked at");
        await recordFailure(deps.pool, look, isAppError(error) ? error.publicMessage : "a fault of this server");
      }
    }
  }
  await Promise.all(Array.from({ length: looksAtOnce }, lookInTurn));
}

async function lookAt(deps: Pick<AutomationDeps, "pool"> & PushDeps, look: Look, signal: AbortSignal): Promise<void> {
  const remote = await deps.remoteOf(look.repositoryId, signal);
  const refs = await listRemote(deps.git, remote, ["HEAD", "refs/heads/*", "refs/tags/*"], signal);
  const watched = watchedRefs(look.trigger, refs, look.baseRef);
  const head = refs.ids.get(`refs/heads/${look.baseRef ?? refs.defaultBranch ?? ""}`) ?? null;
  // The first look only learns what was there before.
  const events = look.known.size === 0 ? [] : pushesSince(look.known, watched, head);
  const records: PushRecord[] = [];
  for (const event of events.slice(0, eventsMax)) {
    records.push(describePush(look, event, await readPush(deps.git, { remote, ...event }, signal)));
  }
  const later = new Set(events.slice(eventsMax).map(({ ref }) => ref));
  const seen = new Map([...watched].filter(([ref]) => !later.has(ref)));
  for (const [ref, id] of look.known) if (later.has(ref)) seen.set(ref, id);
  await recordPushes(deps.pool, look, { seen, records });
}

function describePush(look: Look, event: RefEvent, push: Push): PushRecord {
  const { ref, tag, from, to } = event;
  const files = passingFiles(look.trigger, push.files);
  const passes = files.length > 0 || (push.files.length === 0 && look.trigger.include.length === 0);
  return {
    event: `push ${ref} ${from ?? ""}..${to}`,
    values: {
      commits: push.commits,
      changedFiles: files.map((file) => file.replaceAll(/[\t\n]/g, " ").replaceAll(unseenCharacters, "\u{fffd}")),
      tag,
      date: dayOf(look.now, "UTC"),
      repository: look.repositoryUrl,
    },
    skipped: passes
      ? null
      : `Skipped: none of the ${push.files.length} changed files of ${ref} passes the path filters.`,
  };
}

/** Told in the history once a day: what hinders a look hinders the next one too. */
async function recordFailure(db: Queryable, look: Look, words: string): Promise<void> {
  await db.query(
    `insert into automation_runs (automation_id, event, values, state, words, settled_at)
     values ($1, $2, '{}', 'skipped', $3, clock_timestamp()) on conflict (automation_id, event) do nothing`,
    [look.id, `look failed ${dayOf(look.now, "UTC")}`, `Could not look at ${look.trigger.repository}: ${words}`],
  );
}
