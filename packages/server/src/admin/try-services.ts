import { createFetch } from "@emend/base/network.ts";
import { chatNamesOf, openChat } from "../chat/open-chats.ts";
import type { Config } from "../config/config.ts";
import { isAppError } from "../errors.ts";
import type { ModelTrial } from "./try-model.ts";

/** What a process found out about the services in its settings. */
export interface ServiceTrials {
  /** The configured model first, then its fallbacks. */
  models: readonly ModelTrial[];
  /** Null: no mail server is configured. `problem`: the server's words. */
  email: { server: string; isLoggedIn: boolean; problem: string | null } | null;
  /** Null: no SAML provider is configured. `problem`: why its metadata cannot be used. */
  saml: { provider: string; certificates: number; problem: string | null } | null;
  /** Those that are configured. `problems`: empty if its settings work. */
  chats: readonly { name: string; problems: readonly string[] }[];
}

/** Asks each model one short question, logs in to the mail server and to the chats, and reads the SAML provider's metadata. */
export async function tryServices(config: Config): Promise<ServiceTrials> {
  // Imported here: the model modules would make every other command start slowly.
  const { tryModel } = await import("./try-model.ts");
  const [models, email, saml, chats] = await Promise.all([
    Promise.all([config.model, ...config.modelFallbacks].map((name) => tryModel(config, name))),
    tryEmail(config.smtp),
    trySaml(config),
    tryChats(config),
  ]);
  return { models, email, saml, chats };
}

async function tryEmail(smtp: Config["smtp"]): Promise<ServiceTrials["email"]> {
  if (smtp === null) return null;
  const { trySmtp } = await import("../notify/email.ts");
  const problem = await trySmtp(smtp).then(
    () => null,
    (error: Error) => error.message.split("\n")[0] ?? "",
  );
  return { server: `${smtp.host}:${smtp.port}`, isLoggedIn: Boolean(smtp.login), problem };
}

async function trySaml({ saml, network }: Config): Promise<ServiceTrials["saml"]> {
  if (saml === null) return null;
  const { openProvider } = await import("../accounts/single-sign-on/saml.ts");
  const client = createFetch(network);
  try {
    const { entityId, certificates } = await openProvider(client.fetch, saml.source)();
    return { provider: entityId, certificates: certificates.length, problem: null };
  } catch (error) {
    const provider = saml.source.kind === "url" ? saml.source.url : saml.name;
    return { provider, certificates: 0, problem: isAppError(error) ? error.publicMessage : String(error) };
  } finally {
    await client.close();
  }
}

async function tryChats(config: Config): Promise<ServiceTrials["chats"]> {
  if (!config.slack && !config.mattermost) return [];
  const network = createFetch(config.network);
  try {
    const open = openChat(config, network);
    return await Promise.all(
      chatNamesOf(config).map(async (name) => ({ name, problems: (await (await open(name))?.findProblems()) ?? [] })),
    );
  } finally {
    await network.close();
  }
}
