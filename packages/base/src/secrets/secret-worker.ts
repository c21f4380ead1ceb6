import { parentPort } from "node:worker_threads";
import { type FoundSecret, scanSecrets, UnsearchableText } from "./scan-secrets.ts";

export interface SecretQuestion {
  text: string;
  known: readonly string[];
}

/** "Too many" is a result too. */
export type SecretAnswer = { found: readonly FoundSecret[] } | { unsearchable: string };

parentPort?.on("message", async ({ text, known }: SecretQuestion) => {
  const answer = await scanSecrets(text, known).then(
    (found): SecretAnswer => ({ found }),
    (error: unknown): SecretAnswer => {
      if (error instanceof UnsearchableText) return { unsearchable: error.message };
      throw error;
    },
  );
  parentPort?.postMessage(answer);
});
parentPort?.postMessage("loaded");
