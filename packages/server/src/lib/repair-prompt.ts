/** A place on a page that no longer agrees with the code. */
interface Outdated {
  path: string;
  line: number;
  message: string;
  /** The new name, if the code renamed it. */
  renamed?: { from: string; to: string };
}

const placesMax = 60;
/** A plain word may be code on one line and English on the next: without a model, only names that look like code are replaced. */
const codeShaped = /^[^\s"`]*(?:[^A-Za-z\s"`]|[a-z][A-Z])[^\s"`]*$/;

/** Whether the built-in rules can replace one name with the other. */
export function isCertainRename(from: string, to: string): boolean {
  return codeShaped.test(from) && codeShaped.test(to);
}

/** One instruction per page, so that a word with another meaning elsewhere stays as it is. */
export function renameOrders(places: readonly Outdated[]): string[] {
  const orders = places.flatMap(({ path, renamed }) =>
    renamed ? [`In ${path.replace(/\.mdx?$/, "")}, replace "${renamed.from}" with "${renamed.to}", also in code.`] : [],
  );
  return [...new Set(orders)].slice(0, placesMax);
}

/** For a language model: the places themselves are the instruction. Null: there are none. */
export function updateOrder(places: readonly Outdated[]): string | null {
  if (places.length === 0) return null;
  const lines = places.slice(0, placesMax).map(({ path, line, message }) => `- ${path}:${line}: ${message}`);
  return `Bring these places up to date, and change nothing else:\n\n${lines.join("\n")}`;
}
