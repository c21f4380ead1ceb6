import type { Config } from "@emend/server";
import type { Cli } from "../cli.ts";
import type { Examination } from "./examine.ts";

const answerMsMax = 3000;

/** Whether a server answers where clients would look for it. */
export async function examineServer(cli: Cli, config: Config): Promise<Examination> {
  const name = "server";
  const url = (cli.env.EMEND_URL || config.publicUrl || `http://${config.host}:${config.port}`).replace(/\/+$/, "");
  try {
    const signal = AbortSignal.any([cli.signal, AbortSignal.timeout(answerMsMax)]);
    const response = await fetch(`${url}/openapi.json`, { signal, redirect: "manual" });
    await response.body?.cancel();
    if (response.status === 200) return { name, verdict: "good", detail: `answers at ${url}` };
    return { name, verdict: "bad", detail: `${url} answers ${response.status}: is that Emend?` };
  } catch {
    return { name, verdict: "note", detail: `nothing answers at ${url}; serve starts it` };
  }
}
