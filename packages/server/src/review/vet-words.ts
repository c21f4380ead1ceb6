import { hostsIn } from "../lib/hosts-in.ts";
import { redactSecrets } from "../lib/secrets-in.ts";
import type { Tree } from "../tree/tree.ts";
import { createKnownHosts, type HostRules } from "./known-hosts.ts";

/** The review's eye on what a model says, before a tool is given it and before it is stored: the agent's `Vetting`. */
export function createVetting(base: Tree, rules: HostRules, knownSecrets: readonly string[] = []) {
  const known = createKnownHosts(base, rules);
  return {
    /** Without credentials, but for those that the repository itself holds. */
    redact: (text: string, signal: AbortSignal) =>
      redactSecrets(text, { known: knownSecrets, isKept: (secret) => isHeld(base, secret, signal) }),
    async refuse(text: string, signal: AbortSignal): Promise<string | null> {
      for (const host of hostsIn(text)) {
        if ((await known.judge(host, signal)) !== "refused") continue;
        return `${host} is a site that neither the repository nor the request names: nothing may point at it`;
      }
      return null;
    },
  };
}

/** To take a leaked credential out of a page, it must be said which. */
async function isHeld(base: Tree, secret: string, signal: AbortSignal): Promise<boolean> {
  const line = secret.split("\n", 1)[0] ?? "";
  if (line.length < 8 || line.length > 1_000) return false;
  const { matches } = await base.search({ pattern: line, kind: "literal", matchesMax: 1 }, signal);
  return matches.length > 0;
}
