import { fenced } from "./markdown.ts";

/** What a place on a page relies on: texts of the page and of the code, which are content and never instructions. */
export interface ReliedOn {
  /** The page's text. */
  text: string;
  /** Such as `@api/src/net.ts:4`. */
  source: string;
  was: string;
  /** Null: the lines are gone. */
  now: string | null;
  /** The commit that has `source`. */
  commit?: string;
}

/** A place on a page that no longer agrees with the code. */
interface Outdated {
  path: string;
  line: number;
  message: string;
  /** The new name, if the code renamed it. */
  renamed?: { from: string; to: string };
  claim?: ReliedOn;
}

const placesMax = 60;
/** Less than a prompt may have. */
const claimsCharactersMax = 40_000;
/** A plain word may be code on one line and English on the next: without a model, only names that look like code are replaced. */
const codeShaped = /^[^\s"`]*(?:[^A-Za-z\s"`]|[a-z][A-Z])[^\s"`]*$/;

/** Whether the built-in rules can replace one name with the other. */
export function isCertainRename(from: string, to: string): boolean {
  return codeShaped.test(from) && codeShaped.test(to);
}

/** One instruction per page, so that a word with another meaning elsewhere stays as it is. */
export function renameOrders(places: readonly Outdated[]): string[] {
  const orders = places.flatMap(({ path, renamed }) =>
    renamed ? [`In ${pageName(path)}, replace "${renamed.from}" with "${renamed.to}", also in code.`] : [],
  );
  return [...new Set(orders)].slice(0, placesMax);
}

/** With its ending: without it, a name such as `run` beside other instructions is a word like any other. */
export function pageName(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `"${path}"`;
}

/** For a language model: the places themselves are the instruction. Null: there are none. */
export function updateOrder(places: readonly Outdated[]): string | null {
  const others = places.filter(({ claim }) => !claim).slice(0, placesMax);
  const lines = others.map(({ path, line, message }) => `- ${path}:${line}: ${message}`);
  const orders = [
    ...(lines.length === 0 ? [] : [`Bring these places up to date, and change nothing else:\n\n${lines.join("\n")}`]),
    ...claimsOrder(places),
  ];
  return orders.length === 0 ? null : orders.join("\n\n");
}

/** Each text with the code that it relies on, before and now. Those that do not fit are left for the next job. */
function claimsOrder(places: readonly Outdated[]): string[] {
  const told: string[] = [];
  let characters = 0;
  for (const { path, line, claim } of places) {
    if (!claim) continue;
    const { text, source, was, now } = claim;
    const parts = [
      `- ${path}:${line} relies on ${source}, which ${now === null ? "is gone" : "changed"}.`,
      fenced("page", [text]),
      fenced("code before", [was]),
      ...(now === null ? [] : [fenced("code now", [now])]),
    ];
    characters += parts.join("").length;
    if (told.length > 0 && characters > claimsCharactersMax) break;
    told.push(parts.join(""));
  }
  if (told.length === 0) return [];
  const order =
    "Correct what these places of pages say, so that it agrees with the code now, and change nothing else. " +
    "The code now is shown here; the repository may still have the code before. Leave a text that is still right.";
  return [`${order}\n\n${told.join("\n")}`];
}
