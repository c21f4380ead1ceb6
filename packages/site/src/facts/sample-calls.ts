import type { PageBlock } from "../drift/page-blocks.ts";
import type { Fact, Signature } from "./fact.ts";
import { escaped, isTelling, type NamedBlock } from "./named-blocks.ts";

/** The calls in samples that fitted a function before a change and do not fit it now, each with the reason. */
export function misfits(
  was: Fact,
  now: Fact,
  pages: readonly NamedBlock[],
): { block: PageBlock; pageLine: number; now: string }[] {
  const [before, after] = [was.signature, now.signature];
  if (!before || !after || !isTelling(was.name)) return [];
  const call = new RegExp(`(?<![\\w$])${escaped(was.name)}\\(`, "g");
  const found: ReturnType<typeof misfits> = [];
  for (const { block, names } of pages) {
    if (!names.has(was.name)) continue;
    for (const { 0: written, index } of block.text.matchAll(call)) {
      const line = block.text.slice(0, index).split("\n").length - 1;
      // A declaration is not a call.
      const above = block.text.slice(0, index);
      if (/\b(?:def|function|func|fn|async|class)\s+$/.test(above)) continue;
      // `node.find()` is a member of something, unless callers write a module there.
      if (above.endsWith(".") && was.container === "" && !before.isQualified) continue;
      const given = argumentsAt(block.text, index + written.length);
      if (given === null || reasonAgainst(given, before) !== null) continue;
      const reason = reasonAgainst(given, after);
      if (reason !== null) found.push({ block, pageLine: block.line + line, now: reason });
    }
  }
  return found;
}

interface Given {
  /** Null: by position. */
  name: string | null;
}

const argumentsMax = 30;
const charactersMax = 2_000;

/** The arguments of a call whose bracket opens before `start`. Null: they are shortened, spread or not closed. */
function argumentsAt(text: string, start: number): readonly Given[] | null {
  const parts: string[] = [""];
  const open: string[] = [];
  let quote = "";
  for (const sign of text.slice(start, start + charactersMax)) {
    if (quote !== "") {
      if (sign === quote) quote = "";
    } else if (/["'`]/.test(sign)) quote = sign;
    else if (/[([{]/.test(sign)) open.push(sign);
    else if (/[)\]}]/.test(sign)) {
      if (open.pop() === undefined) {
        const given = parts.map((part) => part.trim()).filter((part) => part !== "");
        if (given.length > argumentsMax || given.some((part) => /^(?:\*|\.\.\.|…)|^$/.test(part))) return null;
        return given.map((part) => ({ name: /^(\w+)\s*=(?!=|>)/.exec(part)?.[1] ?? null }));
      }
    } else if (sign === "," && open.length === 0) {
      parts.push("");
      continue;
    }
    parts.push((parts.pop() ?? "") + sign);
  }
  return null;
}

/** Why a call does not fit. Null: it fits. */
function reasonAgainst(given: readonly Given[], { parameters, rest, otherNames }: Signature): string | null {
  const byName = new Set(given.flatMap(({ name }) => name ?? []));
  for (const name of byName)
    if (!otherNames && !parameters.some((one) => one.name === name)) return `it has no parameter \`${name}\``;
  const byPosition = given.length - byName.size;
  const taken = parameters.filter(({ isByNameOnly }) => !isByNameOnly);
  if (!rest && byPosition > taken.length) return `it takes at most ${taken.length} arguments`;
  const missing = parameters.find(
    ({ name, required, isByNameOnly }) =>
      required && !byName.has(name) && (isByNameOnly || taken.findIndex((one) => one.name === name) >= byPosition),
  );
  return missing === undefined ? null : `it needs \`${missing.name}\``;
}
