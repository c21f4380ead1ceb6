import { isAppError } from "../errors.ts";
import type { Overlay } from "../tree/tree.ts";
import type { Reasoning, ToolCall, Vetting } from "./agent.ts";
import { applyEdits, type Edit } from "./tools/edit-file.ts";
import { inputOf } from "./tools/registry.ts";

interface Answer {
  text: string;
  toolCalls: readonly ToolCall[];
  reasoning: readonly Reasoning[];
}

/** A model's response, safe to store, with the positions of calls that must not run. */
export interface VettedAnswer extends Answer {
  refusals: ReadonlyMap<number, string>;
}

interface Tools {
  isWriting(call: ToolCall): boolean;
  /** The page as a call would leave it. */
  pageAfter(call: ToolCall): Promise<PageAfter | null>;
}

const redactedCall =
  "not run: it held what looks like a credential. It was taken out; write a placeholder such as YOUR_API_KEY instead";

/**
 * Removes credentials from a model's response before its calls run or its messages are stored, and reports links that a
 * change must not contain. The review checks again, because a model can split a text over two calls.
 */
export async function vetAnswer(
  vetting: Vetting,
  answer: Answer,
  tools: Tools,
  signal: AbortSignal,
): Promise<VettedAnswer> {
  const refusals = new Map<number, string>();
  const toolCalls: ToolCall[] = [];
  const isAllClean = await isClean(vetting, answer, signal);
  const redact = isAllClean ? async (text: string) => text : (text: string) => vetting.redact(text, signal);
  for (const [place, call] of answer.toolCalls.entries()) {
    const input = isAllClean ? call.input : await mapStrings(call.input, redact);
    const isSame = isAllClean || JSON.stringify(input) === JSON.stringify(call.input);
    // The vendor's metadata may repeat the input.
    toolCalls.push(isSame ? call : { id: call.id, name: call.name, input });
    const refusal = isSame ? await refuseStrings(vetting, call, tools, signal) : redactedCall;
    if (refusal !== null) refusals.set(place, refusal);
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
async function isClean(vetting: Vetting, answer: Answer, signal: AbortSignal): Promise<boolean> {
  const said = [answer.text, ...answer.reasoning.map(({ text }) => text)];
  await mapStrings(
    answer.toolCalls.map(({ input }) => input),
    async (text) => {
      said.push(text);
      return text;
    },
  );
  const together = said.join("\n");
  return (await vetting.redact(together, signal)) === together;
}

async function refuseStrings(
  vetting: Vetting,
  call: ToolCall,
  tools: Tools,
  signal: AbortSignal,
): Promise<string | null> {
  if (!tools.isWriting(call)) return null;
  const page = await tools.pageAfter(call);
  if (page) return vetting.refuse(page.text, page, signal);
  const texts: string[] = [];
  await mapStrings(withoutPlaces(call.input), async (text) => {
    texts.push(text);
    return text;
  });
  // As one page: a call may have hundreds of strings, and judging each costs far more than judging them together.
  return vetting.refuse(texts.join("\n\n"), null, signal);
}

const places = new Set(["path", "page", "under", "exclude"]);

/** Paths are not page content: a glob such as `{es,fr}/**` is not code. */
function withoutPlaces(input: unknown): unknown {
  if (input === null || typeof input !== "object" || Array.isArray(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([key]) => !places.has(key)));
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

/** A file as a call would leave it. */
interface PageAfter {
  path: string;
  text: string;
}

/** Only the page around an edit tells whether it is code or a link. Null if the result is unknown. */
export async function pageAfter(overlay: Overlay, call: ToolCall): Promise<PageAfter | null> {
  const { path, content, edits, group } = (inputOf(call) ?? {}) as Record<string, unknown>;
  if (typeof path !== "string") return null;
  if ((call.name === "write_file" || call.name === "add_page") && typeof content === "string") {
    // A new page's extension is chosen later, from the site's other pages.
    const isNamed = (call.name === "write_file" && group === undefined) || /\.mdx?$/.test(path);
    return { path: isNamed ? path : `${path}.mdx`, text: content };
  }
  if (call.name !== "edit_file" || !Array.isArray(edits) || !edits.every(isEdit)) return null;
  const before = await readOrNull(overlay, path);
  const after = before && applyEdits(before, edits, path);
  return after?.kind === "edited" ? { path, text: after.bytes.toString() } : null;
}

function isEdit(value: unknown): value is Edit {
  const { oldText, newText } = (value ?? {}) as Record<string, unknown>;
  return typeof oldText === "string" && oldText !== "" && typeof newText === "string";
}

async function readOrNull(overlay: Overlay, path: string): Promise<Buffer | null> {
  try {
    return await overlay.read(path);
  } catch (error) {
    if (isAppError(error, "invalid_request")) return null;
    throw error;
  }
}
