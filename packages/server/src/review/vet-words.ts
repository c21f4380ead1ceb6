import { hostsIn, unreadable } from "../lib/hosts-in.ts";
import { redactSecrets, UnsearchableText } from "../lib/secrets-in.ts";
import type { Tree } from "../tree/tree.ts";
import { addressesOf } from "./addresses-of.ts";
import { createKnownHosts, type HostRules } from "./known-hosts.ts";
import { openPageReader, type PageReader } from "./page-reader.ts";
import { mayLead } from "./page-reading.ts";
import type { ReviewInput } from "./review.ts";

interface Page {
  path: string;
  text: string;
}

/** The review's eye on what a model says, before a tool is given it and before it is stored: the agent's `Vetting`. */
export function createVetting(
  base: Tree,
  rules: HostRules,
  { knownSecrets = [], pageThreads }: Pick<ReviewInput, "knownSecrets" | "pageThreads"> = {},
) {
  const known = createKnownHosts(base, rules);
  return {
    /** Without credentials, but for those that the repository itself holds. */
    redact: (text: string, signal: AbortSignal) =>
      redactSecrets(text, { known: knownSecrets, isKept: (secret) => isHeld(base, secret, signal) }).catch((error) => {
        if (error instanceof UnsearchableText) return "[redacted: a text that could not be searched for secrets]";
        throw error;
      }),
    /** `page`: what the words would be a part of, where that is known: in code that is only shown they are let through. */
    async refuse(text: string, page: Page | null, signal: AbortSignal): Promise<string | null> {
      const isRefused = async (host: string) => (await known.judge(host, signal)) === "refused";
      const here = hostsIn(text);
      const written = await firstOf(here, isRefused);
      if (mayLead(text) || (written !== null && page !== null)) {
        const { live, all, built } = await readAround(openPageReader(pageThreads), page ?? { path: "words.mdx", text });
        // Those of these words, and those that only the reading of the page's code brings to light.
        const led = [...live].filter((host) => here.has(host) || !all.has(host));
        const isBuilt = built.some((words) => text.includes(words));
        const found = await firstOf(isBuilt ? [...led, unreadable] : led, isRefused);
        if (found !== null || page !== null) return found && refusal(found);
      }
      return written && refusal(written);
    },
  };
}

async function readAround(reader: PageReader, { path, text }: Page) {
  const reading = await reader.read(path, text).finally(() => reader.close());
  const { live, unreadable: built } = addressesOf(text, reading);
  return { live, built, all: hostsIn(text) };
}

async function firstOf(hosts: Iterable<string>, test: (host: string) => Promise<boolean>): Promise<string | null> {
  for (const host of hosts) if (await test(host)) return host;
  return null;
}

function refusal(host: string): string {
  return `${host} is a site that neither the repository nor the request names: nothing may point at it`;
}

/** To take a leaked credential out of a page, it must be said which. */
async function isHeld(base: Tree, secret: string, signal: AbortSignal): Promise<boolean> {
  const line = secret.split("\n", 1)[0] ?? "";
  if (line.length < 8 || line.length > 1_000) return false;
  const { matches } = await base.search({ pattern: line, kind: "literal", matchesMax: 1 }, signal);
  return matches.length > 0;
}
