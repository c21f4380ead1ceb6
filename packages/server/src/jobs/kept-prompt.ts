import { redactSecrets } from "../lib/secrets-in.ts";
import { toText } from "./to-jsonb.ts";

/** Nothing without a long run of characters or a private key's first line can be one: most prompts are spared a look. */
const mayHoldCredential = /(?=\S{0,400}\d)\S{20,}|-----BEGIN|:\/\/\S+@/;

/**
 * What people asked for, as it is stored and as the agent is told it: a credential that came along, perhaps by mistake, is
 * taken out at the door, so that it is in no column, no page of ours and no request to a model.
 */
export async function keptPrompt(prompt: string): Promise<string> {
  return toText(mayHoldCredential.test(prompt) ? await redactSecrets(prompt) : prompt);
}
