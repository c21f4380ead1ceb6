import { below, everywhere, type Form, optional, orderIfBounded, text, unclear, within } from "../form.ts";
import type { Instruction } from "../instruction.ts";
import type { Captures } from "../pattern.ts";

const alsoInCode =
  "((also|even) in [the] code [blocks|samples]|in [the] code [blocks|samples] (too|as well)|including [in] [the] code [blocks|samples]) {!code}";
const scope = `*([,] [and] (${everywhere}|${alsoInCode}|${below}))`;
const every = "(every|all|each|any)";
/** Words that announce a term. Without them and without quotes it could be anything. */
const called = `[${every}] [the] (mentions (of|to) [the] [term]|term [from])`;

export const termForms: readonly Form[] = [
  {
    example: 'replace "API token" with "access key"',
    patterns: [
      `${within} replace [${called}|${every} [the]] {from:term} (with|by) [[the] term] {to:term} ${scope}`,
      `${within} replace the {from:quoted} (with|by) [the] {to:quoted} ${scope}`,
      `${within} (change|swap) [${called}|${every} [the]|the] {from:quoted} (to|into|for) [[the] term] {to:quoted} ${scope}`,
      `${within} (change|rename) ${called} {from:term} (to|into|as|so [that] (they|it) (say|says|read|reads)) [[the] term] {to:term} ${scope}`,
      `swap [${called}] {from:term} for {to:term} ${everywhere}`,
      `rebrand [from] {from:term} (to|as|into) {to:term} ${scope}`,
      `[(make sure|ensure) [that] (it|the docs|the documentation|every page|all pages|all the pages|we)] (use|says|uses) ([the] {to:quoted}|[the] term {to:term}) insteadof ([the] {from:quoted}|[the] term {from:term}) ${scope}`,
    ],
    read: (captures) => orderIfBounded(captures, replaceTerm(captures)),
  },
  {
    example: 'replace "API token" with "access key"',
    patterns: [`(find|search for|look for) [${called}] {from:quoted} ${scope}`],
    read: (captures) => ({ kind: "look", instruction: replaceTerm(captures) }),
  },
  {
    example: 'replace "API token" with "access key"',
    patterns: ["(replace|change|swap) (it|them|each|every one|all of them) (with|by|to|for) {to:quoted}"],
    read(captures) {
      const bounded = orderIfBounded(captures, { kind: "rename", from: "it", to: text(captures, "to") });
      return bounded.kind === "unclear" ? bounded : { kind: "fix_them", to: text(captures, "to") };
    },
  },
  {
    example: 'fix the typo "recieve" to "receive"',
    patterns: ["fix [the] (typo|misspelling|spelling) [of|in] {from:quoted} (to|into|as|->|→|=>) {to:quoted}"],
    read: (captures) => orderIfBounded(captures, replaceTerm(captures)),
  },
  {
    example: 'rename the term "API token" to "access key"',
    patterns: [`rename {from:phrase} to {to:phrase} ${scope}`, `delete {from:label} favour {to:label} ${scope}`],
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
