import type { Overlay, OverlayEntry, Tree } from "@emend/tree";
import type { JudgedEdits, Reasoning, ToolCall, Vetting } from "./agent.ts";
import { applyEdits } from "./tools/report.ts";

interface Answer {
  text: string;
  toolCalls: readonly ToolCall[];
  reasoning: readonly Reasoning[];
}

/** A model's response, safe to store, with the positions of calls that must not run. */
export interface VettedAnswer extends Answer {
  refusals: ReadonlyMap<number, string>;
}

const redactedCall =
  "not run: it held what looks like a credential. It was taken out; write a placeholder such as YOUR_API_KEY instead";

/** Removes credentials from a model's response before its calls run or its messages are stored. */
export async function vetAnswer(vetting: Vetting, answer: Answer): Promise<VettedAnswer> {
  const refusals = new Map<number, string>();
  const toolCalls: ToolCall[] = [];
  const isAllClean = await isClean(vetting, answer);
  const redact = isAllClean ? async (text: string) => text : (text: string) => vetting.redact(text);
  for (const [place, call] of answer.toolCalls.entries()) {
    const input = isAllClean ? call.input : await mapStrings(call.input, redact);
    const isSame = isAllClean || JSON.stringify(input) === JSON.stringify(call.input);
    // The vendor's metadata may repeat the input.
    toolCalls.push(isSame ? call : { id: call.id, name: call.name, input });
    if (!isSame) refusals.set(place, redactedCall);
  }
  const thoughts = await Promise.all(answer.reasoning.map(({ text }) => redact(text)));
  // Signed reasoning must be complete or absent.
  const isThoughtClean = thoughts.every((text, index) => text === answer.reasoning[index]?.text);
  return {
    text: await redact(answer.text),
    toolCalls,
    reasoning: isThoughtClean ? answer.reasoning : [],
    refusals,
  };
}

/** Scans everything at once: a scan costs milliseconds, and there is nearly always nothing. */
async function isClean(vetting: Vetting, answer: Answer): Promise<boolean> {
  const said = [answer.text, ...answer.reasoning.map(({ text }) => text)];
  await mapStrings(
    answer.toolCalls.map(({ input }) => input),
    async (text) => {
      said.push(text);
      return text;
    },
  );
  const together = said.join("\n");
  return (await vetting.redact(together)) === together;
}

/** Why the words of a `finish` must not be published, or null. */
export async function refuseWords(vetting: Vetting, call: ToolCall, signal: AbortSignal): Promise<string | null> {
  const texts: string[] = [];
  await mapStrings(call.input, async (text) => {
    texts.push(text);
    return text;
  });
  // Together: a call may have hundreds of strings, and judging each costs far more.
  return vetting.refuseWords(texts.join("\n\n"), signal);
}

async function mapStrings(value: unknown, map: (text: string) => Promise<string>): Promise<unknown> {
  if (typeof value === "string") return map(value);
  if (Array.isArray(value)) return Promise.all(value.map((inner) => mapStrings(inner, map)));
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(
    async ([key, inner]) => [await map(key), await mapStrings(inner, map)] as const,
  );
  return Object.fromEntries(await Promise.all(entries));
}

/** The review judges every file of a change. A call that edits or moves more than this gets its answer first. */
const judgedMax = 100;

/**
 * Judges the files that a call has just written. If one must not be part of a change, all of the call's edits are taken
 * back; if a person will be asked about one, they stay. What it wrote is judged, not what it was asked to write: only the
 * whole page shows what is code, and a tag's other half.
 */
export async function judgeEdits(
  vetting: Vetting,
  { overlay, base }: { overlay: Overlay; base: Tree },
  entriesBefore: readonly OverlayEntry[],
  signal: AbortSignal,
): Promise<JudgedEdits> {
  const before = new Map(entriesBefore.map((entry) => [entry.path, entry]));
  const entries = overlay.entries();
  const written = entries.filter(({ path, content }) => before.get(path)?.content !== content);
  // What a deleted page had may be on another page now.
  const deleted = entries.filter(({ content }) => content === null);
  if (deleted.length > judgedMax) return { refusal: null, question: null };
  const edited = written.filter(({ content }) => content !== null).slice(0, judgedMax);
  const judged = await vetting.judge([...edited, ...deleted], signal);
  if (judged.refusal === null) return judged;
  const now = new Set(entries.map(({ path }) => path));
  const changed = [...written.map(({ path }) => path), ...[...before.keys()].filter((path) => !now.has(path))];
  const undo = new Map<string, Buffer | null>();
  for (const path of changed)
    undo.set(path, before.has(path) ? (before.get(path)?.content ?? null) : await base.read(path));
  await applyEdits(overlay, undo);
  return judged;
}
