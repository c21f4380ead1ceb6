import { below, everywhere, type Form, optional, orderIfBounded, text, unclear, within } from "../form.ts";
import type { Instruction } from "../instruction.ts";
import type { Captures } from "../pattern.ts";

const alsoInCode =
  "((also|even) in [the] code [blocks|samples]|in [the] code [blocks|samples] (too|as well)|including [in] [the] code [blocks|samples]) {!code}";
const scope = `*([,] [and] (${everywhere}|${alsoInCode}|${below}))`;
const many =
  "[every|all|each|every occurrence of|all occurrences of|each occurrence of|all uses of|every use of] [the]";
const noun = "(term|terms|word|words|phrase|text|name|string|wording)";

export const termForms: readonly Form[] = [
  {
    example: 'replace "API token" with "access key"',
    patterns: [
      `replace ${many} [${noun}] {from:term} (with|by) [the] [${noun}] {to:term} ${scope}`,
      `${within} replace ${many} [${noun}] {from:term} (with|by) [the] [${noun}] {to:term} ${scope}`,
      `(change|update|turn) ${many} [${noun}] {from:term} (to|into) {to:term} ${scope}`,
      `rename ${many} ${noun} {from:term} (to|into|as) {to:term} ${scope}`,
      `(make sure|ensure) [that] (it|the docs|the documentation|every page|all pages|all the pages|we) (say|says|use|uses) {to:term} (instead of|in place of) {from:term} ${scope}`,
      `(use|say|write) [the] [${noun}] {to:term} (instead of|in place of) [the] [${noun}] {from:term} ${scope}`,
    ],
    read: (captures) => orderIfBounded(captures, replaceTerm(captures)),
  },
  {
    example: 'rename the term "API token" to "access key"',
    patterns: [`rename {from:phrase} to {to:phrase} ${scope}`],
    read(captures) {
      if (captures.has("everywhere")) return orderIfBounded(captures, replaceTerm(captures));
      const from = text(captures, "from");
      if (captures.has("under") || captures.has("code")) {
        return unclear(
          `it does not say whether "${from}" is a term or a heading: write rename the term, or rename the heading`,
        );
      }
      return orderIfBounded(captures, { kind: "rename", from, to: text(captures, "to") });
    },
  },
];

function replaceTerm(captures: Captures): Instruction {
  const includeCode = captures.has("code");
  return {
    kind: "replace_term",
    from: text(captures, "from"),
    to: text(captures, "to"),
    includeCode,
    ...optional(captures, ["under"]),
  };
}
