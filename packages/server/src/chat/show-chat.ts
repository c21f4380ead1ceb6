import { isDeepStrictEqual } from "node:util";
import { getThread, listPosts, readShownJob, reserveChatPost, savePost } from "./chat-store.ts";
import { wantedPosts } from "./chat-words.ts";
import type { ChatDeps } from "./hear-chat.ts";

/** How far a chat's clock may be off. */
const clockSkewMs = 3_600_000;

/**
 * Posts and edits until a thread shows its job as it is now. Idempotent: a message whose post may have reached the chat is
 * looked for before it is posted. One task at a time has a thread.
 */
export async function showChat(deps: ChatDeps, threadId: string, signal: AbortSignal): Promise<void> {
  const { pool } = deps;
  const thread = await getThread(pool, threadId);
  const chat = thread && (await deps.openChat(thread.chat));
  if (!chat) return;
  const job = thread.jobId ? await readShownJob(pool, thread.jobId) : null;
  const posts = new Map((await listPosts(pool, threadId)).map((post) => [post.key, post]));
  for (const { key, content } of wantedPosts(job, [...posts.values()], deps.publicUrl())) {
    if (signal.aborted) return;
    const known = posts.get(key);
    if (known?.shown && isDeepStrictEqual(known.shown, content)) continue;
    if (known?.message) {
      await chat.edit(thread, known.message, known.id, content);
      await savePost(pool, known.id, { message: known.message, shown: content });
      continue;
    }
    const post = await reserveChatPost(pool, threadId, key);
    const since = post.begunAt && new Date(post.begunAt.getTime() - clockSkewMs);
    const found = since && (await chat.find(thread, post.id, since));
    deps.crashPoint("before-chat-post");
    const message = found ?? (await chat.post(thread, post.id, content));
    deps.crashPoint("after-chat-post");
    if (found !== null) await chat.edit(thread, message, post.id, content);
    await savePost(pool, post.id, { message, shown: content });
  }
}
