import { createKeyedMutex } from "@emend/base/locks.ts";
import { redactSecrets, UnsearchableText } from "@emend/base/secrets/secrets-in.ts";
import { type Pool, type Queryable, toText } from "../db/pool.ts";
import { AppError } from "../errors.ts";

const runCharactersLeast = 20;

/**
 * The prompt without credentials, as it is stored and as the agent gets it. A credential that was included by mistake
 * reaches no column, no page and no model.
 */
export async function redactPrompt(prompt: string): Promise<string> {
  if (!mayHoldCredential(prompt)) return toText(prompt);
  const redacted = await redactSecrets(prompt).catch((cause: unknown) => {
    if (!(cause instanceof UnsearchableText)) throw cause;
    throw new AppError("invalid_request", {
      publicMessage: `Emend can't search this prompt for credentials (${cause.message}). Shorten it.`,
      cause,
    });
  });
  return toText(redacted);
}

export interface PromptUse {
  projectId: string;
  kind: "create" | "message";
  usesMax: number;
  windowMs: number;
}

// All projects share the scanner's thread. Each project scans one prompt at a time, so that none delays the others.
const turns = createKeyedMutex({ waitingMax: 200 });

/**
 * Scans the prompt only while the project's quota has room. Null: no room, and the caller must not store the prompt.
 * The caller makes the exact count when it stores.
 */
export async function redactWithinQuota(db: Pool, use: PromptUse, prompt: string): Promise<string | null> {
  if (!mayHoldCredential(prompt)) return toText(prompt);
  const kept = turns.run(use.projectId, async () => ((await hasRoom(db, use)) ? redactPrompt(prompt) : null));
  if (kept) return kept;
  throw new AppError("rate_limited", {
    publicMessage: "Too many long prompts for this project at once. Try again in a moment.",
    retryAfterMs: 1_000,
  });
}

/** For a prompt that was not scanned because the quota had no room a moment before: nothing of it is stored. */
export function quotaFilledMeanwhile(): AppError {
  return new AppError("rate_limited", { publicMessage: "The project's quota was used up.", retryAfterMs: 1_000 });
}

async function hasRoom(db: Queryable, { projectId, kind, usesMax, windowMs }: PromptUse): Promise<boolean> {
  const { rows } = await db.query<{ has_room: boolean }>(
    `select count(*) < $3 as has_room from quota_uses
     where project_id = $1 and kind = $2 and used_at > clock_timestamp() - make_interval(secs => $4)`,
    [projectId, kind, usesMax, windowMs / 1000],
  );
  return rows[0]?.has_room === true;
}

/**
 * Without a long run of characters, a private key's first line or a URL with a user name there is no credential: most
 * prompts skip the scan. Checked word by word, because one expression for all takes seconds on a hostile prompt.
 */
function mayHoldCredential(prompt: string): boolean {
  if (prompt.includes("-----BEGIN") || (prompt.includes("://") && prompt.includes("@"))) return true;
  return prompt.split(/\s+/).some((run) => run.length >= runCharactersLeast && /\d/.test(run));
}
