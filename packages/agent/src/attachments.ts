import { inContent } from "@emend/base/in-content.ts";
import type { Attachment, Message } from "./agent.ts";

/** What vendors charge for a large picture, rather too high. */
const tokensOfPicture = 2_000;

const namers = new Set<string | undefined>([undefined, "interjection", "look"]);

/** The attachments that a message of the user, or of the loop after a look, names. What others wrote cannot name any. */
export function namedIn(message: Message, attachments: readonly Attachment[]): readonly Attachment[] {
  if (message.role !== "user" || !namers.has(message.from)) return [];
  return attachments.filter(({ id }) => message.text.includes(id));
}

/** A message with the texts of the documents that it names. */
export function withDocuments(text: string, named: readonly Attachment[]): string {
  const documents = named.flatMap(({ id, name, text: words }) =>
    words === null ? [] : [inContent(`The text of ${name} (${id}):`, words)],
  );
  return [text, ...documents].join("\n\n");
}

/** The tokens of all of them, beyond the messages that name them. */
export function tokensOfAttachments(attachments: readonly Attachment[]): number {
  return attachments.reduce((sum, { text }) => sum + (text === null ? tokensOfPicture : Math.ceil(text.length / 2)), 0);
}
