import { type FarModel, type FarTurn, protocols, startFarModel } from "@emend/testkit/far-model.ts";
import { splitPage } from "./canonical.ts";
import type { Product } from "./product.ts";
import type { Files } from "./site-model.ts";
import { type EvalRow, evaluate } from "./table.ts";
import type { Answer, EvalTask } from "./task.ts";

const filler = "Velox canis rufus super pigrum vulpem saltat, dum nubes altae per caelum caeruleum placide feruntur.";

/** Wrong answers, derived from the task and its first right answer. Each must fail: otherwise a pass means nothing. */
export function mutantsOf(task: EvalTask): readonly Answer[] {
  const [right] = task.right;
  if (!right) return [];
  const changed = changedPaths(task.files, right.files);
  const made = [
    { ...right, name: "no words", title: "Update", summary: "Done." },
    { ...right, name: "a title of filler", title: "Lorem ipsum dolor", summary: filler },
    { ...right, name: "a summary of filler", summary: `${filler} ${right.title} ${filler} ${filler}` },
    { ...right, name: "too much: an untouched page loses its last line", files: cutElsewhere(task, right.files) },
    { ...right, name: "too much: a page that nobody asked for", files: { ...right.files, "notes.md": "# Notes\n" } },
    { ...right, name: "an invented fact", files: withInvention(task, right.files) },
    {
      ...right,
      name: "an invented default",
      files: withSentence(task, right.files, "By default Relay keeps `backlog` entries."),
    },
    ...(task.expected.canary === undefined
      ? []
      : [
          { ...right, name: "the canary in the title", title: `${right.title} ${task.expected.canary}` },
          { ...right, name: "the canary on a page", files: withSentence(task, right.files, task.expected.canary) },
        ]),
  ];
  if (changed.length === 0) {
    return [
      ...made,
      { ...right, name: "filler in place of a page", files: withFiller(right.files, pagesIn(right.files).slice(0, 1)) },
      {
        ...right,
        name: "says that it was done",
        title: "Do what was asked",
        summary: "I made the change that was asked for in all the places.",
      },
    ];
  }
  return [
    ...made,
    { ...right, name: "no-op", files: task.files },
    {
      ...right,
      name: "filler",
      files: withFiller(
        right.files,
        changed.filter((path) => /\.mdx?$/.test(path)),
      ),
    },
    { ...right, name: "half done", files: halfDone(task.files, right.files, changed) },
    { ...right, name: "the right text in the wrong place", files: misplaced(task.files, right.files, changed) },
    ...withoutRedirects(task, right),
    ...(task.expected.cites ? [{ ...right, name: "no source", sources: [] }] : []),
    ...(task.expected.written ? wrongFacts(task, right) : []),
  ].filter(({ files, name }) => name !== "filler" || changedPaths(right.files, files).length > 0);
}

function changedPaths(before: Files, after: Files): readonly string[] {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...paths].filter((path) => before[path] !== after[path]).sort();
}

const pagesIn = (files: Files) => Object.keys(files).filter((path) => /\.mdx?$/.test(path));

/** Headings and front matter stay, so that only a reader notices. */
function withFiller(files: Files, paths: readonly string[]): Files {
  const filled = paths.flatMap((path) => {
    const text = files[path];
    if (text === undefined) return [];
    const { body } = splitPage(text);
    const matter = text.slice(0, text.length - body.length);
    const lines = body.split("\n").map((line) => (line.startsWith("#") || line.trim() === "" ? line : filler));
    return [[path, `${matter}${lines.join("\n")}`]];
  });
  return { ...files, ...Object.fromEntries(filled) };
}

function elsewhere(task: EvalTask, files: Files): string {
  const touched = new Set([
    ...changedPaths(task.files, files),
    ...(task.expected.written ?? []).map(({ path }) => path),
  ]);
  return pagesIn(files).find((path) => !touched.has(path)) ?? pagesIn(files)[0] ?? "";
}

function cutElsewhere(task: EvalTask, files: Files): Files {
  const path = elsewhere(task, files);
  return { ...files, [path]: `${(files[path] ?? "").trimEnd().split("\n").slice(0, -1).join("\n")}\n` };
}

const withInvention = (task: EvalTask, files: Files) =>
  withSentence(task, files, "A message may be at most 317 kilobytes, and the limit is raised on request.");

/** At the end of what was written, or of a changed page. */
function withSentence(task: EvalTask, files: Files, sentence: string): Files {
  const written = task.expected.written?.[0];
  const path =
    written?.path ??
    changedPaths(task.files, files).find((at) => files[at] && /\.mdx?$/.test(at)) ??
    elsewhere(task, files);
  const text = files[path] ?? "";
  if (!written?.section) return { ...files, [path]: `${text.trimEnd()}\n\n${sentence}\n` };
  return { ...files, [path]: text.replace(new RegExp(`^(#+ ${written.section}\\s*)$`, "m"), `$1\n\n${sentence}\n`) };
}

/** Half of the files. For a single one, the first half of the new text and the second half of the old. */
function halfDone(before: Files, after: Files, changed: readonly string[]): Files {
  if (changed.length > 1) return restored(before, after, changed.slice(Math.ceil(changed.length / 2)));
  const path = changed[0] ?? "";
  return { ...after, [path]: halfway((before[path] ?? "").split(/(?<=\s)/), (after[path] ?? "").split(/(?<=\s)/)) };
}

function halfway(old: readonly string[], now: readonly string[]): string {
  let start = 0;
  while (start < Math.min(old.length, now.length) && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < Math.min(old.length, now.length) - start && old.at(-1 - end) === now.at(-1 - end)) end += 1;
  const [gone, come] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const rest = now.slice(now.length - end);
  // A single word cannot be half done: it is missing.
  const part = come.length === 1 && gone.length <= 1 ? [] : come.slice(0, Math.floor(come.length / 2));
  return [...now.slice(0, start), ...part, ...gone.slice(Math.floor(gone.length / 2)), ...rest].join("");
}

/** A page's new text goes to another page. */
function misplaced(before: Files, after: Files, changed: readonly string[]): Files {
  const path = changed.find((at) => after[at] !== undefined && /\.mdx?$/.test(at));
  if (path === undefined) return restored(before, after, changed.slice(0, 1));
  const old = new Set(before[path]?.split("\n"));
  const gained = (after[path] ?? "").split("\n").filter((line) => !old.has(line));
  const other = pagesIn(before).find((at) => !changed.includes(at)) ?? pagesIn(before)[0] ?? "";
  const back = restored(before, after, [path]);
  return { ...back, [other]: `${(back[other] ?? "").trimEnd()}\n\n${gained.join("\n")}\n` };
}

function restored(before: Files, after: Files, paths: readonly string[]): Files {
  const kept = Object.entries(after).filter(([path]) => !paths.includes(path));
  const old = paths.flatMap((path) => (before[path] === undefined ? [] : [[path, before[path]]]));
  return { ...Object.fromEntries(kept), ...Object.fromEntries(old) };
}

function withoutRedirects(task: EvalTask, right: Answer): readonly Answer[] {
  const path = ["docs.json", "mkdocs.yml", "docusaurus.config.js"].find((at) => right.files[at] !== undefined) ?? "";
  const [before, after] = [task.files[path] ?? "", right.files[path] ?? ""];
  const isRedirect = (line: string) => /source|destination|from:|\.md: /.test(line);
  const gained = after.split("\n").filter((line) => isRedirect(line) && !before.includes(line));
  if (gained.length === 0) return [];
  const part =
    path === "docs.json"
      ? withoutJsonRedirects(before, after)
      : after
          .split("\n")
          .filter((line) => !gained.includes(line))
          .join("\n");
  return [{ ...right, name: "no redirect", files: { ...right.files, [path]: part } }];
}

function withoutJsonRedirects(before: string, after: string): string {
  return JSON.stringify({ ...JSON.parse(after), redirects: JSON.parse(before).redirects }, null, 2);
}

/** Values changed, swapped, and a name left out. */
function wrongFacts(task: EvalTask, right: Answer): readonly Answer[] {
  return (task.expected.written ?? []).flatMap((written) => {
    const text = right.files[written.path] ?? "";
    const withText = (name: string, changed: string) =>
      changed === text ? [] : [{ ...right, name, files: { ...right.files, [written.path]: changed } }];
    const valued = written.facts.filter(({ value }) => value !== null);
    const [first, second] = written.facts;
    const also = (sentence: string) => withSentence(task, right.files, sentence)[written.path] ?? text;
    return [
      ...valued.flatMap(({ name, value }) => withText(`no value of ${name}`, replaceWord(text, value ?? "", "set"))),
      ...written.facts.flatMap(({ name, value }) =>
        value === null ? withText(`a default of ${name}`, also(`By default, \`${name}\` is set.`)) : [],
      ),
      ...withText("much filler beside the facts", also(Array(12).fill(filler).join(" "))),
      ...withText("a link to no page", also("See [the limits](./nowhere-to-be-found.md) too.")),
      ...(written.section === undefined
        ? []
        : withText("a line lost elsewhere on the page", withoutLine(task, written.path, text))),
      ...valued.flatMap(({ name, value }) =>
        withText(
          `another value of ${name}`,
          replaceWord(text, value ?? "", /^\d+$/.test(value ?? "") ? `${Number(value) + 5}` : "never"),
        ),
      ),
      ...(first && second
        ? withText(
            `${first.name} is not told`,
            text
              .split("\n")
              .filter((line) => !line.includes(first.name) || line.startsWith("title:") || line.startsWith("#"))
              .join("\n"),
          )
        : []),
    ];
  });
}

/** The last line of the page as it was that is a paragraph by itself. */
function withoutLine(task: EvalTask, path: string, text: string): string {
  const line = (task.files[path] ?? "").split("\n").findLast((one) => /^[A-Z].{20,}$/.test(one)) ?? "";
  return text.replace(`${line}\n`, () => "");
}

function replaceWord(text: string, word: string, by: string): string {
  return text.replace(new RegExp(`(?<![\\w])${word}(?![\\w])`, "g"), by);
}

/** The vendor of an agent that is wrong on purpose. Its answers go through the API, the tools and the review. */
export interface WrongBot {
  environment: FarModel["environment"];
  evaluate(
    product: Product,
    tasks: readonly EvalTask[],
    onResult: (row: EvalRow) => void,
    signal: AbortSignal,
  ): Promise<readonly EvalRow[]>;
  stop(): Promise<void>;
}

export async function startWrongBot(): Promise<WrongBot> {
  let script: (turn: number) => FarTurn = () => "";
  const far = await startFarModel((turn) => script(turn));
  return {
    environment: far.environment,
    async evaluate(product, tasks, onResult, signal) {
      const rows: EvalRow[] = [];
      for (const [index, task] of tasks.entries()) {
        const { name, turns } = wrongTurns(task, index);
        script = turns;
        const [row] = await evaluate(product, protocols[0], [task], {}, signal);
        // A job that fails before its first turn proves nothing of the eval.
        if (!row || row.figures.turns === 0) throw new Error(`${task.name}: the wrong answer was never asked for`);
        // Told which way of being wrong it was: one that passes is a hole in the eval.
        const shown = { ...row, task: { ...task, name: `${task.name} (${name})` } };
        onResult(shown);
        rows.push(shown);
      }
      return rows;
    },
    stop: () => far.stop(),
  };
}

/** Each task is done wrong in one way: nothing, filler, half, too much, an invention, at the wrong place, and so on. */
export function wrongTurns(task: EvalTask, index: number): { name: string; turns(turn: number): FarTurn } {
  const wrong = [...mutantsOf(task), ...(task.wrong ?? [])];
  const mutant = wrong[index % wrong.length];
  if (!mutant) throw new Error(`${task.name} has no wrong answer`);
  const finish: [string, unknown] = ["finish", wordsOf(mutant)];
  const work = [...editsOf(task, mutant), finish];
  return { name: mutant.name, turns: (turn) => (turn === 0 ? work : [finish]) };
}

function editsOf(task: EvalTask, { files }: Answer): [string, unknown][] {
  const paths = [...new Set([...Object.keys(task.files), ...Object.keys(files)])];
  return paths.flatMap((path): [string, unknown][] => {
    const content = files[path];
    if (content === task.files[path]) return [];
    return [content === undefined ? ["delete_file", { path }] : ["write_file", { path, content }]];
  });
}

function wordsOf({ title, summary, sources = [] }: Answer): Record<string, unknown> {
  return { title, summary, reply: summary, ...(sources.length > 0 && { sources }) };
}
