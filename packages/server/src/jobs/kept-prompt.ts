import { redactSecrets } from "../lib/secrets-in.ts";
import { toText } from "./to-jsonb.ts";

const runCharactersLeast = 20;

/**
 * What people asked for, as it is stored and as the agent is told it: a credential that came along, perhaps by mistake, is
 * taken out at the door, so that it is in no column, no page of ours and no request to a model.
 */
export async function keptPrompt(prompt: string): Promise<string> {
  return toText(mayHoldCredential(prompt) ? await redactSecrets(prompt) : prompt);
}

/**
 * Nothing without a long run of characters, a private key's first line or an address with a name in it can be one: most
 * prompts are spared a look. By words, because one expression for it all takes seconds on a prompt made to be slow.
 */
function mayHoldCredential(prompt: string): boolean {
  if (prompt.includes("-----BEGIN") || (prompt.includes("://") && prompt.includes("@"))) return true;
  return prompt.split(/\s+/).some((run) => run.length >= runCharactersLeast && /\d/.test(run));
}
