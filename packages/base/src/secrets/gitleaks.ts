// The rules of gitleaks (https://github.com/gitleaks/gitleaks, MIT License, copyright 2019 Zachary Rice), as data. Left out are
// its rule for any value after a word like "key", which finds every placeholder of a page, and rules for one kind of file.
import list from "./gitleaks-rules.json" with { type: "json" };

interface Rule {
  id: string;
  pattern: string;
  ignoreCase?: boolean;
  /** A text without any of these has no match. */
  keywords: readonly string[];
  /** The least entropy of the secret, in bits a character. */
  entropy?: number;
  group?: number;
  /** Secrets that match one of these are samples. */
  except?: readonly string[];
}

const rules = (list as readonly Rule[]).map((rule) => ({
  ...rule,
  expression: new RegExp(rule.pattern, rule.ignoreCase ? "dgi" : "dg"),
  samples: (rule.except ?? []).map((pattern) => new RegExp(pattern)),
}));

/** Known only by where they are, not by how they look. Documentation has a placeholder there more often than a secret. */
const byPlace = /^curl-auth-/;
const randomEntropyMin = 3.5;

/** An AWS secret has no form of its own: it is a run of forty characters beside a key's id. */
const awsId = /\b(?:A3T[A-Z0-9]|AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b/;
const awsSecret = /(?<![A-Za-z0-9/+=])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])/g;
const awsEntropyMin = 4;

/** A private key as JSON: its private part beside the kind of key, in either order, also quoted in a string. */
const jwkPart = /\\?["']?\b(d|p|q|dp|dq|qi|k)\\?["']?\s*:\s*\\?["']([\w+/-]{20,}={0,2})\\?["']/dg;
const jwkKind = /\\?["']?\bkty\\?["']?\s*:\s*\\?["'](?:RSA|EC|OKP|oct)\b/;
/** Characters between the parts of one key. */
const jwkLengthMax = 6_000;
const jwkEntropyMin = 3;

/** Private keys as text, also those whose end is not there, of SSH2 and of PuTTY. */
const keyTexts = [
  /-{4,5} ?BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)? ?-{4,5}(?=[\s\S]{0,400}?[A-Za-z0-9+/]{40})([\w+/=\s\\>"',|#*.:-]{40,})/dg,
  /Private-Lines: ?\d+\s+([A-Za-z0-9+/=\s]{40,})/dg,
];

interface Found {
  start: number;
  end: number;
  kind: string;
}

export function gitleaksSecretsIn(text: string): readonly Found[] {
  const lower = text.toLowerCase();
  const found: Found[] = [];
  for (const { id, expression, keywords, entropy = 0, group, samples } of rules) {
    if (keywords.length > 0 && !keywords.some((word) => lower.includes(word))) continue;
    for (const match of text.matchAll(expression)) {
      const at = group ?? match.slice(1).findIndex((part) => part !== undefined) + 1;
      const secret = match[at] ?? "";
      const [start, end] = match.indices?.[at] ?? [0, 0];
      const bits = entropyOf(secret);
      if (bits < entropy || samples.some((sample) => sample.test(secret))) continue;
      if (byPlace.test(id) && (bits < randomEntropyMin || !/\d/.test(secret) || !/[a-z]/i.test(secret))) continue;
      found.push({ start, end, kind: id });
    }
  }
  for (const match of keyTexts.flatMap((pattern) => [...text.matchAll(pattern)])) {
    const [start, end] = match.indices?.[1] ?? [0, 0];
    found.push({ start, end, kind: "private-key" });
  }
  if (jwkKind.test(text)) found.push(...jwkSecretsIn(text));
  if (!awsId.test(text)) return found;
  for (const { 0: secret, index } of text.matchAll(awsSecret)) {
    const isSample = secret.includes("EXAMPLE") || entropyOf(secret) < awsEntropyMin || !/\d/.test(secret);
    if (!isSample) found.push({ start: index, end: index + secret.length, kind: "aws-secret" });
  }
  return found;
}

function jwkSecretsIn(text: string): readonly Found[] {
  const kinds = [...text.matchAll(new RegExp(jwkKind, "g"))].map(({ index }) => index);
  return [...text.matchAll(jwkPart)].flatMap((match) => {
    const [start, end] = match.indices?.[2] ?? [0, 0];
    const isNear = kinds.some((at) => Math.abs(at - start) < jwkLengthMax);
    return isNear && entropyOf(match[2] ?? "") >= jwkEntropyMin ? [{ start, end, kind: "jwk" }] : [];
  });
}

/** Shannon's, in bits a character. */
function entropyOf(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((bits, count) => bits - (count / text.length) * Math.log2(count / text.length), 0);
}
