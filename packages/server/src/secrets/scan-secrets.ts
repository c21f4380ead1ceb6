import { rules } from "@secretlint/secretlint-rule-preset-recommend";

/** A credential in a text: where, and of what kind. */
export interface FoundSecret {
  start: number;
  end: number;
  /** From 1. */
  line: number;
  kind: string;
}

/** Real texts hold a handful; each one found costs its callers a look into the repository. */
const secretsMax = 500;

/** A text that cannot be searched in bounds: whoever asked must treat it as one that holds a secret. */
export class UnsearchableText extends Error {}

// The rules alone, and not the library's core: that one lets a page turn the search off (`secretlint-disable`), compares
// every finding with every other, and keeps marks of each search for as long as the process lives.
const scanners = (rules as readonly Rule[]).filter(({ meta }) => !meta.id.endsWith("-filter-comments"));

/** What of a rule is used here; the package leaves its types to another one. */
interface Rule {
  meta: { id: string };
  create(
    context: {
      sharedOptions: object;
      createTranslator(): (messageId: string) => { message: string; messageId: string };
      report(finding: { range: readonly [start: number, end: number] }): void;
      ignore(): void;
    },
    options: object,
  ): { file?(source: Source): void | Promise<void> };
}

interface Source {
  content: string;
  filePath: string;
  ext: string;
  contentType: "text";
}

/**
 * What looks like a credential, is a key of Emend's own, or is one of those that are known, in the order in which it
 * stands. The expressions run on this thread: call `secretsIn` instead wherever others wait.
 */
export async function scanSecrets(text: string, known: readonly string[] = []): Promise<readonly FoundSecret[]> {
  const found = new Map<string, FoundSecret>();
  const lineAt = lineCounter(text);
  const add = (start: number, end: number, kind: string) => {
    found.set(`${start} ${end} ${kind}`, { start, end, line: lineAt(start), kind });
    if (found.size > secretsMax) throw new UnsearchableText(`more than ${secretsMax} credentials`);
  };
  const source: Source = { content: text, filePath: "text.md", ext: ".md", contentType: "text" };
  for (const rule of scanners) {
    const kind = rule.meta.id.replace(/^@secretlint\/secretlint-rule-/, "");
    const handler = rule.create(
      {
        sharedOptions: {},
        createTranslator: () => (messageId) => ({ message: "", messageId }),
        report: ({ range }) => add(range[0], range[1], kind),
        ignore: () => undefined,
      },
      {},
    );
    await handler.file?.(source);
  }
  for (const { start, end, kind } of knownSecretsIn(text, known)) add(start, end, kind);
  return [...found.values()].sort((a, b) => a.start - b.start || b.end - a.end);
}

/**
 * The line of a place, by the places where lines end: asked for each finding, so never counted from the top again. Only
 * `\n` ends one, as for everybody who splits a text into lines; else a page of `\r` would move a finding to another line.
 */
function lineCounter(text: string): (index: number) => number {
  const ends: number[] = [];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) ends.push(at);
  return (index) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] as number) < index) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}

/** Emend's own keys: `emend_` and 48 digits of base 62. */
const ownKey = /emend_[0-9A-Za-z]{48}/g;
/** What may be an encoding: base64, hex and percent signs, on one line or several, and hex with marks in between. */
const runs =
  /[A-Za-z0-9+/_=%-]{16,}(?:\r?\n[ \t]*[A-Za-z0-9+/_=%-]{8,})*|[A-Za-z0-9+/_=%-]{8,}(?:\r?\n[ \t]*[A-Za-z0-9+/_=%-]{8,})+|(?<!\w)(?:(?:0x|\\x|\\u00)?[0-9a-f]{2}[\s:,;.|_-]{0,2}){11,}(?:0x|\\x|\\u00)?[0-9a-f]{2}/gi;
/** Encoders break long lines, and code joins what stands in quotes. */
const between = "[\\s\"'`+\\\\]{0,8}";

/**
 * What a text holds of Emend's own keys and of secrets that are known: as they are, broken over lines or joined by code,
 * and in whatever `decodedForms` decodes, up to twice and backwards.
 */
export function knownSecretsIn(text: string, known: readonly string[]): readonly Omit<FoundSecret, "line">[] {
  const found: Omit<FoundSecret, "line">[] = [];
  const secrets = [...new Set(known)].filter(isTelling);
  const add = ({ 0: { length }, index }: RegExpMatchArray, kind: string) =>
    found.push({ start: index ?? 0, end: (index ?? 0) + length, kind });

  for (const match of text.matchAll(ownKey)) add(match, "emend");
  // Nearly every text holds none, and is told so ten times sooner than by a pattern.
  const flat = joined(text);
  for (const secret of secrets) {
    for (const needle of [secret, backwards(secret)]) {
      if (!flat.includes(joined(needle))) continue;
      const pattern = new RegExp([...needle].map(escaped).join(between), "g");
      for (const match of text.matchAll(pattern)) add(match, "known");
    }
  }
  for (const run of text.matchAll(runs)) {
    const forms = decodedForms(run[0]).slice(1);
    if (forms.some((form) => form.match(ownKey))) add(run, "emend");
    else if (forms.some((form) => secrets.some((secret) => form.includes(secret)))) add(run, "known");
  }
  return found;
}

/** `lm-studio` and `changeme` are keys of some servers, and words of many pages. */
function isTelling(secret: string): boolean {
  return secret.length >= 24 || (secret.length >= 12 && /\d/.test(secret));
}

function joined(text: string): string {
  return text.replaceAll(/[\s"'`+\\]/g, "");
}

function backwards(text: string): string {
  return [...text].reverse().join("");
}

function escaped(character: string): string {
  return character.replace(/[\\^$.*+?()[\]{}|/-]/, "\\$&");
}

const roundsMax = 2;
const formsMax = 40;
const decodedCharactersMax = 2_000_000;

/**
 * A text in what it decodes to: percent signs, base64 and hex (with or without separators), each once more over what
 * came out, and all of them backwards.
 */
export function decodedForms(text: string): readonly string[] {
  const forms = new Set([text]);
  let last: readonly string[] = [text];
  let room = decodedCharactersMax;
  for (let round = 0; round < roundsMax; round += 1) {
    const next = last.flatMap((form) => [unpercented(form), fromHex(form), ...fromBase64(form)]);
    last = [...new Set(next)]
      .filter((form) => form !== "" && !forms.has(form) && form.length < room)
      .slice(0, formsMax);
    for (const form of last) {
      forms.add(form);
      room -= form.length;
    }
  }
  return [...forms, ...[...forms].map((form) => [...form].reverse().join(""))];
}

function unpercented(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => Buffer.from(run.replaceAll("%", ""), "hex").toString());
}

/** Pairs of hex digits, one after another or with the same mark between all of them: `70 61`, `70:61`, `\\x70\\x61`. */
function fromHex(text: string): string {
  const runs = text.match(/(?:(?:0x|\\x|\\u00)?[0-9a-f]{2}[\s:,;.|_-]{0,2}){8,}/gi) ?? [];
  return runs
    .map((run) => Buffer.from(run.replaceAll(/0x|\\x|\\u00|[^0-9a-f]/gi, ""), "hex").toString("latin1"))
    .join("\n");
}

/** Wherever in a group of four the part begins that is looked for. */
function fromBase64(text: string): readonly string[] {
  const runs = text.replaceAll(/\r?\n/g, "").match(/[A-Za-z0-9+/_-]{12,}={0,2}/g) ?? [];
  return [0, 1, 2, 3].map((skip) =>
    runs.map((run) => Buffer.from(run.slice(skip), "base64").toString("latin1")).join("\n"),
  );
}

/** The characters that stand in base64 for these bytes alone, with so many bytes before them in their group of three. */
export function base64Core(bytes: Buffer, lead: number): string {
  const encoded = Buffer.concat([Buffer.alloc(lead), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const isPartial = (lead + bytes.length) % 3 !== 0;
  return encoded.slice(lead === 0 ? 0 : lead + 1, isPartial ? -1 : undefined);
}
