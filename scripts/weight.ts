// npm run weight: lines and kilobytes that the repository carries, by package and kind.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const kinds = ["source", "tests", "measuring", "data", "docs"] as const;
type Kind = (typeof kinds)[number];

/** Measuring: what runs by a command of its own and is in no release. */
function kindOf(path: string): Kind {
  if (/\.(?:json|jsonl|snap|svg|txt|sql\.gz)$|^action\/dist\//.test(path)) return "data";
  if (/\.md$/.test(path)) return "docs";
  if (/\.test\.tsx?$|(?:^|\/)test\/|^packages\/testkit\//.test(path)) return "tests";
  return /^packages\/[\w-]+\/(?:attack|bench|builders|chaos|corpus|eval|oracles|programs)\/|^scripts\//.test(path)
    ? "measuring"
    : "source";
}

const rows = new Map<string, Map<Kind, { lines: number; bytes: number }>>();
for (const path of execFileSync("git", ["ls-files", "-z"], { encoding: "utf8" }).split("\0")) {
  if (!/\.(?:[cm]?[jt]sx?|sql|css|html|sh|json|jsonl|snap|svg|txt|md)$/.test(path) || path === "package-lock.json")
    continue;
  const room = /^packages\/[^/]+/.exec(path)?.[0] ?? "the rest";
  const row = rows.get(room) ?? new Map();
  const bytes = readFileSync(path);
  const { lines, bytes: before } = row.get(kindOf(path)) ?? { lines: 0, bytes: 0 };
  row.set(kindOf(path), {
    lines: lines + bytes.toString("latin1").split("\n").length - 1,
    bytes: before + bytes.length,
  });
  rows.set(room, row);
}

const number = (value: number) => value.toLocaleString("en");
const of = (room: string, kind: Kind) => rows.get(room)?.get(kind) ?? { lines: 0, bytes: 0 };
const sum = (kind: Kind, what: "lines" | "bytes") =>
  [...rows.keys()].reduce((all, room) => all + of(room, kind)[what], 0);
const line = (name: string, values: readonly string[]) => `| ${name} | ${values.join(" | ")} |`;
console.log(line("lines", kinds));
console.log(`|---|${kinds.map(() => "---:|").join("")}`);
for (const room of [...rows.keys()].sort((a, b) => of(b, "source").lines - of(a, "source").lines))
  console.log(
    line(
      room,
      kinds.map((kind) => number(of(room, kind).lines)),
    ),
  );
console.log(
  line(
    "all",
    kinds.map((kind) => number(sum(kind, "lines"))),
  ),
);
console.log(
  line(
    "kilobytes",
    kinds.map((kind) => number(Math.round(sum(kind, "bytes") / 1_000))),
  ),
);
