// The confirmer on findings that people judged: it gets what the gate would send, and never the verdict.
import { createHash } from "node:crypto";
import { isAboutPast, pageBlocks, runGit } from "@emend/site";
import { codeHunks } from "../../server/src/claims/drift/code-change.ts";
import { confirmAll, passageAt, type Verdict } from "../../server/src/claims/drift/confirm.ts";
import type { Question } from "../../server/src/claims/drift/reader.ts";
import { ofStale } from "../../server/src/gate/judge-pull.ts";
import { isOutside, type Replayed, type Repository } from "./truth-replay.ts";

const seed = "emend confirmer 1";
/** Of a half's findings, the share that is asked about. */
const shares = { open: 0.2, frozen: 0.1 };

/** The half of a finding, and whether it is in the sample. Made by the seed, before anybody looked. */
export function sampled(repository: string, key: string): { half: "open" | "frozen"; isAsked: boolean } {
  const hash = createHash("sha256").update(`${seed} ${repository} ${key}`).digest();
  const half = (hash.readUInt8(0) & 1) === 0 ? "open" : "frozen";
  return { half, isAsked: hash.readUInt16BE(1) < shares[half] * 65_536 };
}

/** The verdict on a finding of a replay. Undefined: there is no answer. */
export async function confirmReplayed(
  gitDir: string,
  repository: Repository,
  { commit, parent, stale, after }: Replayed,
  ask: (question: Question) => Promise<unknown>,
): Promise<Verdict | undefined> {
  // A snapshot may lack its largest files.
  const patch = await runGit(gitDir, ["diff", "-U3", "--no-renames", "--no-color", parent, commit]).catch(() => null);
  if (patch === null) return undefined;
  const hunks = await codeHunks(patch, (path) => isOutside(repository, path));
  const { path, line, message, name = "", causes = [] } = ofStale(stale, []);
  const text = Buffer.from((await after.tree.read(path)) ?? "").toString();
  const passage = isAboutPast(path, text) ? "" : passageAt(pageBlocks(path, text), line);
  const candidate = { page: path, line, message, name, passage, causes, elsewhere: after.filesWith(name, 8) };
  const asker = { ask, problem: () => null };
  return (await confirmAll(asker, [candidate], hunks, new AbortController().signal))[0];
}

/** Counts of a half: what the confirmer said about right and wrong findings. */
export class Confirmed {
  readonly #counts = new Map<string, number>();

  add(half: string, verdict: "right" | "wrong", said: Verdict | undefined): void {
    const key = `${half} ${verdict} ${said?.verdict ?? "no answer"}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  toString(): string {
    const of = (half: string, verdict: string, said: string) => this.#counts.get(`${half} ${verdict} ${said}`) ?? 0;
    return ["open", "frozen"]
      .map((half) => {
        const [right, wrong] = [of(half, "right", "wrong docs"), of(half, "wrong", "wrong docs")];
        const all = (verdict: string) =>
          ["wrong docs", "still right", "cannot tell"].reduce((sum, said) => sum + of(half, verdict, said), 0);
        return `${half} half, confirmer: ${right} of ${right + wrong} confirmed are right; confirmed ${right} of ${all("right")} right ones and ${wrong} of ${all("wrong")} wrong ones (${of(half, "wrong", "still right")} called still right)`;
      })
      .join("\n");
  }
}
