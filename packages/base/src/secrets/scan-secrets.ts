import { rules } from "@secretlint/secretlint-rule-preset-recommend";
import { gitleaksSecretsIn } from "./gitleaks.ts";

/** A credential in a text: its position and kind. */
export interface FoundSecret {
  start: number;
  end: number;
  /** 1-based. */
  line: number;
  kind: string;
}

/** Real texts contain a few. Each one costs a lookup in the repository. */
const secretsMax = 500;

/** A text that cannot be scanned within the limits. Callers must treat it as containing a secret. */
export class UnsearchableText extends Error {}

// Only the library's rules, not its core: the core lets a page turn the scan off (`secretlint-disable`), compares all
// findings with each other, and keeps data of each scan for the life of the process.
const scanners = (rules as readonly Rule[]).filter(({ meta }) => !meta.id.endsWith("-filter-comments"));

/** The parts of a rule that are used here. The package has no types for it. */
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
 * Finds text that looks like a credential, Emend's own keys, and known secrets, in order. The regular expressions run
 * on this thread: use `secretsIn` where others wait.
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
  const earlier = [...found.values()];
  for (const { start, end, kind } of gitleaksSecretsIn(text)) {
    if (!earlier.some((one) => one.start <= start && end <= one.end)) add(start, end, kind);
  }
  for (const { start, end, kind } of knownSecretsIn(text, known)) add(start, end, kind);
  return [...found.values()].sort((a, b) => a.start - b.start || b.end - a.end);
}

/**
 * The line of a position, by binary search over line ends. Only `\n` ends a line, as everywhere else: otherwise a page
 * of `\r` would move a finding to another line.
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

/** Emend's own keys: `emend_` and 48 base-62 digits. */
const ownKey = /emend_[0-9A-Za-z]{48}/g;
/** Possible encodings: base64, hex and percent-encoding, on one or several lines, and hex with separators. */
const runs =
  /[A-Za-z0-9+/_=%-]{16,}(?:\r?\n[ \t]*[A-Za-z0-9+/_=%-]{8,})*|[A-Za-z0-9+/_=%-]{8,}(?:\r?\n[ \t]*[A-Za-z0-9+/_=%-]{8,})+|(?<!\w)(?:(?:0x|\\x|\\u00)?[0-9a-f]{2}[\s:,;.|_-]{0,2}){11,}(?:0x|\\x|\\u00)?[0-9a-f]{2}/gi;
/** Encoders break long lines, and code concatenates quoted strings. */
const between = "[\\s\"'`+\\\\]{0,8}";

/**
 * Finds Emend's own keys and known secrets: as they are, broken over lines or concatenated by code, and in everything
 * that `decodedForms` decodes, up to twice and reversed.
 */
export function knownSecretsIn(text: string, known: readonly string[]): readonly Omit<FoundSecret, "line">[] {
  const found: Omit<FoundSecret, "line">[] = [];
  const secrets = [...new Set(known)].filter(isTelling);
  const add = ({ 0: { length }, index }: RegExpMatchArray, kind: string) =>
    found.push({ start: index ?? 0, end: (index ?? 0) + length, kind });

  for (const match of text.matchAll(ownKey)) add(match, "emend");
  // Nearly every text contains none. This check is ten times faster than a pattern.
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

/** `lm-studio` and `changeme` are keys of some servers, and words on many pages. */
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
 * The decoded forms of a text: percent-encoding, base64 and hex (with or without separators), each applied twice, and
 * all of them reversed.
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

/** Pairs of hex digits, adjacent or with the same separator: `70 61`, `70:61`, `\\x70\\x61`. */
function fromHex(text: string): string {
  const runs = text.match(/(?:(?:0x|\\x|\\u00)?[0-9a-f]{2}[\s:,;.|_-]{0,2}){8,}/gi) ?? [];
  return runs
    .map((run) => Buffer.from(run.replaceAll(/0x|\\x|\\u00|[^0-9a-f]/gi, ""), "hex").toString("latin1"))
    .join("\n");
}

/** For every alignment within a group of four. */
function fromBase64(text: string): readonly string[] {
  const runs = text.replaceAll(/\r?\n/g, "").match(/[A-Za-z0-9+/_-]{12,}={0,2}/g) ?? [];
  return [0, 1, 2, 3].map((skip) =>
    runs.map((run) => Buffer.from(run.slice(skip), "base64").toString("latin1")).join("\n"),
  );
}

/** The base64 characters that encode only these bytes, with this many bytes before them in their group of three. */
export function base64Core(bytes: Buffer, lead: number): string {
  const encoded = Buffer.concat([Buffer.alloc(lead), bytes])
    .toString("base64")
    .replace(/=+$/, "");
  const isPartial = (lead + bytes.length) % 3 !== 0;
  return encoded.slice(lead === 0 ? 0 : lead + 1, isPartial ? -1 : undefined);
}

const punctuation: Readonly<Record<string, string>> = {
  lowbar: "_",
  UnderBar: "_",
  hyphen: "-",
  dash: "-",
  period: ".",
  sol: "/",
  bsol: "\\",
  colon: ":",
  equals: "=",
  plus: "+",
  commat: "@",
  num: "#",
  amp: "&",
};

/** A text as its readers see it: with character references, escapes and percent-encoding decoded. Line breaks stay. */
export function asRead(text: string): string {
  return text
    .replaceAll(/&(\w{3,8});/g, (whole, name) => punctuation[name] ?? whole)
    .replaceAll(
      /&#x0*([0-9a-f]{1,6});?|\\u\{?00([0-9a-f]{2})\}?|\\x([0-9a-f]{2})|%([2-7][0-9a-f])/gi,
      (whole, ...codes) => characterOf(Number.parseInt(codes.slice(0, 4).find(Boolean), 16), whole),
    )
    .replaceAll(/&#0*(\d{1,7});?/g, (whole, code) => characterOf(Number(code), whole))
    .replaceAll(/\\([!-/:-@[-`{-~])/g, "$1");
}

function characterOf(code: number, whole: string): string {
  return code >= 0x20 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
}
