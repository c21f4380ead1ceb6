import { assertNever } from "@emend/base/fault.ts";
import { fenced } from "@emend/base/markdown.ts";
import { rulesModelName } from "@emend/base/model-names.ts";
import { type Chat, ChatFault, type ChatName } from "@emend/chat";
import { uploadBytesMax, uploadsPerPromptMax, uploadTypes } from "@emend/contract";
import { isAtLeast, readEmail } from "../accounts/people/user.ts";
import { allowedModels } from "../accounts/projects/project-settings.ts";
import type { Project } from "../accounts/projects/projects.ts";
import type { Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import { AppError, isAppError } from "../errors.ts";
import type { AnnounceDue } from "../jobs/announce.ts";
import { answerApproval } from "../jobs/answer-approval.ts";
import { createJobWithoutKey, type NewJobRules, scanNewPrompt } from "../jobs/create-job.ts";
import { type MessageJobDeps, type MessageOutcome, messageJob, messageQuota } from "../jobs/message-job.ts";
import { addUpload, attachUploads, promptWithUploads } from "../jobs/uploads/uploads.ts";
import {
  addReply,
  type ChatMember,
  findByEmail,
  findJobProject,
  findLinked,
  findThread,
  listChatProjects,
  markMessageHandled,
  nextWaiting,
  readShownJob,
  type StoredThread,
  saveThread,
  type ThreadName,
  type WaitingMessage,
} from "./chat-store.ts";

/**
 * People talk to Emend in a chat: a mention or a direct message starts a job, and its thread is the conversation. Only
 * members who may start jobs are heard; everybody else's words are content at most.
 */
export interface ChatDeps extends MessageJobDeps {
  pool: Pool;
  defaultModel: string;
  promptCodePointsMax: number;
  announceDue: AnnounceDue;
  publicUrl(): string;
  newJobRules(project: Project, model: string): NewJobRules;
  findProject(id: string): Promise<Project | undefined>;
  /** Null: it is not configured here. */
  openChat(name: ChatName): Promise<Chat | null>;
  askShow(threadId: string): Promise<void>;
  crashPoint(name: "before-chat-job" | "after-chat-job" | "before-chat-post" | "after-chat-post"): void;
}

/** Handles what was said in a thread, in order. Each is handled once. */
export async function hearChat(deps: ChatDeps, at: ThreadName, signal: AbortSignal): Promise<void> {
  const chat = await deps.openChat(at.chat);
  if (!chat) return;
  for (;;) {
    if (signal.aborted) return;
    const next = await nextWaiting(deps.pool, at);
    if (!next) return;
    await hear({ ...deps, chat }, at, next);
  }
}

type HearDeps = ChatDeps & { chat: Chat };

async function hear(deps: HearDeps, at: ThreadName, message: WaitingMessage): Promise<void> {
  const thread = await findThread(deps.pool, at);
  const job = thread?.jobId ? await readShownJob(deps.pool, thread.jobId) : null;
  // After the end, people talk about the result. Only a mention continues the job then.
  if (!message.isAddressed && job?.status !== "active") return ignore(deps, message);
  const member = await findMember(deps, at.chat, message.author);
  if (!member || !isAtLeast(member.role, "maintainer")) {
    return message.isAddressed
      ? refuse(deps, at, message, unknownWords(at.chat, message, member))
      : ignore(deps, message);
  }
  try {
    if (message.pressed !== null)
      return await takePress(deps, at, { thread, message, member, pressed: message.pressed });
    if (message.text === "") return await refuse(deps, at, message, "Say what to change in the documentation.");
    if ([...message.text].length > deps.promptCodePointsMax) {
      return await refuse(deps, at, message, `That is too long. Use ${deps.promptCodePointsMax} characters at most.`);
    }
    if (thread?.jobId && job) {
      const key = `chat/${message.id}`;
      return await tell(deps, at, { message, member, jobId: thread.jobId, prompt: message.text, key });
    }
    return await startJob(deps, at, message, member);
  } catch (error) {
    // A prompt that the API would refuse too, such as one with a credential in it.
    if (isAppError(error, "invalid_request")) return refuse(deps, at, message, error.publicMessage);
    // A file that the chat does not hand over.
    if (error instanceof ChatFault && error.code === "chat_refused")
      return refuse(deps, at, message, error.publicMessage);
    throw error;
  }
}

async function findMember({ pool, chat }: HearDeps, name: ChatName, account: string): Promise<ChatMember | null> {
  const linked = await findLinked(pool, name, account);
  if (linked) return linked;
  const email = readEmail((await chat.emailOf(account)) ?? "");
  return email === null ? null : findByEmail(pool, email);
}

function unknownWords(chat: ChatName, { author }: WaitingMessage, member: ChatMember | null): string {
  if (member) return `Your role in Emend is ${member.role}, which cannot start jobs. Ask an owner to change it.`;
  return (
    "Emend does not know your account, so it did nothing. Ask the person who runs Emend to link it: " +
    `emend user chat EMAIL ${chat}/${author}`
  );
}

/** An open question is answered once: a second press, of whomever, has no effect. */
async function takePress(
  deps: HearDeps,
  at: ThreadName,
  input: { thread: StoredThread | null; message: WaitingMessage; member: ChatMember; pressed: string },
): Promise<void> {
  const { thread, message, member, pressed } = input;
  const [questionId = "", index = ""] = pressed.split("/");
  const job = thread?.jobId ? await readShownJob(deps.pool, thread.jobId) : null;
  const asked = job?.questions.find(({ id }) => id === questionId);
  const prompt = asked?.options[Number(index)];
  if (!job || !asked?.isOpen || prompt === undefined) return ignore(deps, message);
  if (asked.constructs) return approve(deps, at, { message, member, jobId: job.id, option: Number(index) });
  await tell(deps, at, { message, member, jobId: job.id, prompt, key: `chat-answer/${questionId}` });
}

/** The buttons of `approvalOptions`. Only members with write access come here. */
async function approve(
  deps: HearDeps,
  at: ThreadName,
  input: { message: WaitingMessage; member: ChatMember; jobId: string; option: number },
): Promise<void> {
  const { message, member, jobId, option } = input;
  const projectId = await findJobProject(deps.pool, jobId);
  if (projectId === null) return ignore(deps, message);
  const outcome = await answerApproval(
    deps,
    { id: jobId, projectId },
    {
      answer: option === 2 ? "decline" : "approve",
      remember: option === 1,
      by: `user/${member.email}`,
      actor: { name: member.email, address: null },
    },
  );
  // A second press has no effect: somebody answered already.
  if (outcome.kind === "refused" && outcome.because !== "approved" && outcome.because !== "declined")
    return refuse(deps, at, message, "The job does not wait for approval any more.");
  await ignore(deps, message);
}

/** The same as a message by the API. Its key makes it one message, if this node dies before it is marked as handled. */
async function tell(
  deps: HearDeps,
  at: ThreadName,
  input: { message: WaitingMessage; member: ChatMember; jobId: string; prompt: string; key: string },
): Promise<void> {
  const { message, member, jobId, prompt, key } = input;
  const projectId = await findJobProject(deps.pool, jobId);
  if (projectId === null) return ignore(deps, message);
  const files = await uploadFiles(deps, { message, member, projectId });
  deps.crashPoint("before-chat-job");
  const outcome = await messageJob(deps, messageQuota, {
    id: jobId,
    projectId,
    prompt,
    files,
    createdBy: `user/${member.email}`,
    idempotencyKey: key,
  });
  deps.crashPoint("after-chat-job");
  const words = refusalOf(outcome);
  if (words !== null) return refuse(deps, at, message, words);
  await ignore(deps, message);
}

function refusalOf(outcome: MessageOutcome): string | null {
  switch (outcome.kind) {
    case "accepted":
    case "replayed":
    // Somebody answered the question already.
    case "conflict":
      return null;
    case "unknown_job":
      return "The job of this thread was deleted. Start a new thread.";
    case "refused":
      return outcome.because === "archived"
        ? "The job of this thread is archived. Start a new thread."
        : `The pull request of this thread is ${outcome.because}. Start a new thread.`;
    case "limited":
      return "The project reached its limit of messages per hour. Try again later.";
    case "over_budget":
      return outcome.refusal.words;
    default:
      return assertNever(outcome);
  }
}

async function startJob(deps: HearDeps, at: ThreadName, message: WaitingMessage, member: ChatMember): Promise<void> {
  const found = await findChatProject(deps, at, message);
  if (typeof found === "string") return refuse(deps, at, message, found);
  const project = await deps.findProject(found.id);
  if (!project) return ignore(deps, message);
  const model = allowedModels(project.settings, deps.defaultModel)[0];
  const rules = deps.newJobRules(project, model);
  const files = await uploadFiles(deps, { message, member, projectId: project.id });
  const words = await promptOf(deps, at, { message, text: found.text, model });
  const about = { projectId: project.id, prompt: words, model, files };
  const { prompt } = await promptWithUploads(deps.pool, about, deps.modelPrices);
  const kept = await scanNewPrompt(deps.pool, rules, { projectId: project.id, prompt });
  const due: string[] = [];
  deps.crashPoint("before-chat-job");
  const refusal = await inTransaction(deps.pool, async (client) => {
    if (!(await markMessageHandled(client, message.id))) return null;
    const outcome = await createJobWithoutKey(
      { db: client, announceDue: (projectId) => void due.push(projectId) },
      rules,
      {
        projectId: project.id,
        prompt,
        kept,
        baseRef: null,
        model,
        createdBy: `user/${member.email}`,
      },
    );
    switch (outcome.kind) {
      case "created": {
        await attachUploads(client, { id: outcome.jobId, projectId: project.id }, files);
        const threadId = await saveThread(client, at, outcome.jobId);
        await client.query("select ask_task('show_chat', $1)", [threadId]);
        return null;
      }
      case "limited":
        return addRefusal(client, at, message, "The project reached its limit of jobs per hour. Try again later.");
      case "over_budget":
        return addRefusal(client, at, message, outcome.refusal.words);
      default:
        return assertNever(outcome);
    }
  });
  deps.crashPoint("after-chat-job");
  for (const projectId of due) deps.announceDue(projectId);
  if (refusal !== null) await deps.askShow(refusal);
}

/** Done again if this node dies: uploads that no prompt names are deleted after a day. */
async function uploadFiles(
  deps: HearDeps,
  { message, member, projectId }: { message: WaitingMessage; member: ChatMember; projectId: string },
): Promise<readonly string[]> {
  const { files = [] } = message;
  if (files.length > uploadsPerPromptMax) throw invalid(`At most ${uploadsPerPromptMax} files can be attached.`);
  const ids: string[] = [];
  for (const file of files) {
    if (!uploadTypes.some((type) => type === file.type))
      throw invalid(`${file.name} can't be attached. Attach PNG, JPEG, WebP or PDF.`);
    const bytes = await deps.chat.download(file, uploadBytesMax);
    const input = { projectId, name: file.name, bytes, createdBy: `user/${member.email}` };
    ids.push((await addUpload(deps.pool, input)).id);
  }
  return ids;
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

/** The channel's project, or the words that say why there is none. */
async function findChatProject(
  { pool }: HearDeps,
  { chat, channel }: ThreadName,
  { isDirect, text }: WaitingMessage,
): Promise<{ id: string; text: string } | string> {
  const projects = await listChatProjects(pool, { chat, channel: isDirect ? null : channel });
  const [first] = projects;
  if (!first) {
    return isDirect
      ? "No project has a channel in this chat yet. Set `chatChannels` of a project first."
      : `This channel belongs to no project. Link it: emend project settings PROJECT chatChannels=${chat}/${channel}`;
  }
  if (projects.length === 1) return { id: first.id, text };
  if (!isDirect) return "Several projects name this channel. Keep it in the settings of one.";
  const named = projects.find(({ name }) => text.toLowerCase().startsWith(`${name.toLowerCase()}:`));
  if (named) return { id: named.id, text: text.slice(named.name.length + 1).trim() };
  return `Begin with the name of a project and a colon: ${projects.map(({ name }) => name).join(", ")}.`;
}

const earlierMax = 30;

/** Only a member's words are an instruction. What others wrote in the thread before is content (prompt injection). */
async function promptOf(
  { chat }: HearDeps,
  at: ThreadName,
  { message, text, model }: { message: WaitingMessage; text: string; model: string },
): Promise<string> {
  if (model === rulesModelName || at.thread === message.message) return text;
  const earlier = (await chat.read(at)).filter((one) => one.message !== message.message).slice(0, earlierMax);
  if (earlier.length === 0) return text;
  const words = earlier.map((one) => `${one.author}: ${one.text}`);
  return `${text}\n\nThe request was made in this thread of a chat:\n${fenced("chat thread", words)}`;
}

async function ignore({ pool }: ChatDeps, { id }: WaitingMessage): Promise<void> {
  await markMessageHandled(pool, id);
}

async function refuse(deps: ChatDeps, at: ThreadName, message: WaitingMessage, words: string): Promise<void> {
  const threadId = await inTransaction(deps.pool, async (client) => {
    if (!(await markMessageHandled(client, message.id))) return null;
    return addRefusal(client, at, message, words);
  });
  if (threadId !== null) await deps.askShow(threadId);
}

async function addRefusal(
  client: Parameters<typeof saveThread>[0],
  at: ThreadName,
  { id }: WaitingMessage,
  words: string,
): Promise<string> {
  const threadId = await saveThread(client, at, null);
  await addReply(client, threadId, id, words);
  await client.query("select ask_task('show_chat', $1)", [threadId]);
  return threadId;
}
