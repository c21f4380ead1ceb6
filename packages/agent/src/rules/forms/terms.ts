import {
  type Form,
  inPlaces,
  isPathLike,
  isQuoted,
  isTerm,
  orderIfBounded,
  type Picked,
  place,
  slot,
  text,
  unclear,
  way,
} from "../form.ts";
import type { Frame } from "../frame.ts";
import type { Instruction } from "../instruction.ts";

const where = "site also code only page";

export const termForms: readonly Form[] = [
  {
    example: 'replace "API token" with "access key"',
    ways: [
      way(`replace ? term mentions ${where}`, {
        from: slot("-", isTerm),
        to: slot("with arrow", isTerm),
        under: place,
      }),
      way(`replace ? term ${where}`, { from: slot("-", isQuotedTerm), to: slot("with", isQuotedTerm), under: place }),
      way(`change|swap ? term mentions ${where}`, {
        from: slot("-", isQuotedTerm),
        to: slot("to into for as", isQuotedTerm),
        under: place,
      }),
      way(`change|rename|retitle mentions ? term ${where}`, {
        from: slot("-", isTerm),
        to: slot("to into as", isTerm),
        under: place,
      }),
      way(`change|rename ? mentions ${where}`, {
        from: slot("-", isCalledTerm),
        to: slot("to into as", isTerm),
        under: place,
      }),
      way(`change|rename term ? ${where}`, { from: slot("from", isTerm), to: slot("to into", isTerm), under: place }),
      way(`swap site ? mentions ${where}`, { from: slot("-", isTerm), to: slot("for", isTerm) }),
      way(`swap mentions ? ${where}`, { from: slot("-", isTerm), to: slot("for", isTerm) }),
      way(`rebrand ? ${where}`, { from: slot("- from", isTerm), to: slot("to as into", isTerm), under: place }),
      way(`use|write ? it ${where}`, {
        to: slot("-", isQuotedTerm),
        from: slot("insteadof", isQuotedTerm),
        under: place,
      }),
      way(`use|write site ? it ${where}`, { to: slot("-", isTerm), from: slot("insteadof", isTerm) }),
      way(`? mentions ${where}`, { from: slot("-", isCalledTerm), to: slot("become", isQuotedTerm), under: place }),
      way(`use|write ? it ${where}`, {
        to: slot("-", isCalledTerm),
        from: slot("insteadof", isCalledTerm),
        under: place,
      }),
    ],
    read: (picked, frame) =>
      frame.words.includes("code") && !frame.words.includes("also")
        ? unclear("it does not say whether only code is meant: write also in code")
        : orderIfBounded(picked, frame, ...replaceTerm(picked, frame)),
  },
  {
    example: 'fix the typo "recieve" to "receive"',
    ways: [way("fix ? term", { from: slot("- of in", isQuotedTerm), to: slot("to into as", isQuotedTerm) })],
    read: (picked, frame) =>
      frame.words.includes("term") || picked.get("from")?.[0]?.noun === "term"
        ? orderIfBounded(picked, frame, ...replaceTerm(picked, frame))
        : unclear("it does not say what is wrong: write fix the typo"),
  },
  {
    example: 'replace "API token" with "access key"',
    ways: [way("check ? mentions site", { from: slot("-", isQuotedTerm), under: place })],
    read: (picked, frame) => ({ kind: "look", instructions: replaceTerm(picked, frame) }),
  },
  {
    example: 'replace "API token" with "access key"',
    ways: [way("replace|change|swap it", { to: slot("with to for", isQuotedTerm) })],
    read(picked, frame) {
      const bounded = orderIfBounded(picked, frame, { kind: "rename", from: "it", to: text(picked, "to") });
      return bounded.kind === "unclear" ? bounded : { kind: "fix_them", to: text(picked, "to") };
    },
  },
  {
    example: 'rename the term "API token" to "access key"',
    ways: [
      way(`rename|retitle ? ${where}`, { from: slot("-", isPhrase), to: slot("to", isPhrase), under: place }),
      way(`? ${where}`, { from: slot("-", isLabel), to: slot("become", isLabel), under: place }),
      way(`delete ? ${where}`, { from: slot("-", isLabel), to: slot("favour", isLabel), under: place }),
    ],
    read(picked, frame) {
      if (frame.words.includes("site")) return orderIfBounded(picked, frame, ...replaceTerm(picked, frame));
      const from = text(picked, "from");
      if (picked.has("under") || frame.words.includes("code"))
        return unclear(
          `it does not say whether "${from}" is a term or a heading: write rename the term, or rename the heading`,
        );
      const { pages = [], isFolder = false, isGroup = false } = picked.get("from")?.[0]?.meaning ?? {};
      const other = pages.length > 0 ? "page" : isFolder ? "folder" : isGroup ? "navigation group" : null;
      if (other)
        return unclear(
          `"${from}" may be a term or a ${other}: write rename the term, or rename the ${other} (${pages.join(", ") || from})`,
        );
      return orderIfBounded(picked, frame, { kind: "rename", from, to: text(picked, "to") });
    },
  },
];

type Thing = Parameters<typeof isTerm>[0];

function isQuotedTerm(thing: Thing): boolean {
  return isQuoted(thing) && isTerm(thing);
}

function isCalledTerm(thing: Thing): boolean {
  return isTerm(thing) && thing.noun === "term";
}

function isPhrase(thing: Thing): boolean {
  return isTerm(thing) && thing.noun === "" && !isPathLike(thing.text);
}

function isLabel(thing: Thing): boolean {
  return isQuoted(thing) && isPhrase(thing);
}

function replaceTerm(picked: Picked, { words }: Frame): readonly Instruction[] {
  const [from, to, includeCode] = [text(picked, "from"), text(picked, "to"), words.includes("code")];
  return inPlaces(picked, (under) => ({
    kind: "replace_term",
    from,
    to,
    includeCode,
    ...(under !== undefined && { under }),
  }));
}
