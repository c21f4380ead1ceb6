import type { Examination } from "./examine.ts";

const answerMsMax = 3000;

/** Whether a server answers where clients would look for it. */
export async function examineServer(baseUrl: string, signal: AbortSignal): Promise<Examination> {
  const name = "server";
  const url = baseUrl.replace(/\/+$/, "");
  try {
    const soon = AbortSignal.any([signal, AbortSignal.timeout(answerMsMax)]);
    const response = await fetch(`${url}/openapi.json`, { signal: soon, redirect: "manual" });
    await response.body?.cancel();
    if (response.status === 200) return { name, verdict: "good", detail: `answers at ${url}` };
    return { name, verdict: "bad", detail: `${url} answers ${response.status}: is that Emend?` };
  } catch {
    return { name, verdict: "note", detail: `nothing answers at ${url}; serve starts it` };
  }
}
