import { createFetch } from "@emend/base/network.ts";
import { chatNamesOf, openChat } from "../chat/open-chats.ts";
import type { Config } from "../config/config.ts";
import type { ModelTrial } from "./try-model.ts";

/** What a process found out about the services in its settings. */
export interface ServiceTrials {
  /** The configured model first, then its fallbacks. */
  models: readonly ModelTrial[];
  /** Null: no mail server is configured. `problem`: the server's words. */
  email: { server: string; isLoggedIn: boolean; problem: string | null } | null;
  /** Those that are configured. `problems`: empty if its settings work. */
  chats: readonly { name: string; problems: readonly string[] }[];
}

/** Asks each configured model one short question, and logs in to the mail server and to the chats. */
export async function tryServices(config: Config): Promise<ServiceTrials> {
  // Imported here: the model modules would make every other command start slowly.
  const { tryModel } = await import("./try-model.ts");
  const [models, email, chats] = await Promise.all([
    Promise.all([config.model, ...config.modelFallbacks].map((name) => tryModel(config, name))),
    tryEmail(config.smtp),
    tryChats(config),
  ]);
  return { models, email, chats };
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
