import type { ChatName, Content, Said } from "@emend/chat";
import type { AskedConstruct } from "@emend/contract";
import { type Role, readEmail } from "../accounts/people/user.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { consoleActor, inTransactionAs } from "../db/transaction.ts";
import { AppError } from "../errors.ts";
import { newId } from "../lib/id.ts";

/** A thread of a chat, by the chat's own ids. */
export interface ThreadName {
  chat: ChatName;
  channel: string;
  thread: string;
}

/** Stores what was said, once, however often it is delivered. A worker takes it within moments. */
export async function storeChatMessage(db: Queryable, chat: ChatName, said: Said): Promise<boolean> {
  const { channel, thread, message, author, text, isAddressed, isDirect, pressed, files = [] } = said;
  const clean = (words: string) => words.replaceAll("\0", "").toWellFormed();
  const kept = {
    text: clean(text),
    isAddressed,
    isDirect,
    pressed,
    ...(files.length > 0 && { files: files.map((file) => ({ ...file, name: clean(file.name), at: clean(file.at) })) }),
  };
  const { rows } = await db.query<{ isNew: boolean }>('select hear_chat($1, $2, $3, $4, $5, $6, $7) as "isNew"', [
    newId("chm"),
    chat,
    channel,
    thread,
    message,
    author,
    kept,
  ]);
  return rows[0]?.isNew ?? false;
}

/** What was said and not handled yet. */
export interface WaitingMessage extends Omit<Said, "channel" | "thread"> {
  id: string;
}

/** The oldest one of a thread. */
export async function nextWaiting(db: Queryable, at: ThreadName): Promise<WaitingMessage | null> {
  const { rows } = await db.query<Pick<WaitingMessage, "id" | "message" | "author"> & { said: object }>(
    `select id, message, author, said from chat_messages
     where chat = $1 and channel = $2 and thread = $3 and handled_at is null order by received_at, id limit 1`,
    [at.chat, at.channel, at.thread],
  );
  const [row] = rows;
  if (!row) return null;
  const { said, ...rest } = row;
  return { ...rest, ...said } as WaitingMessage;
}

export async function markMessageHandled(db: Queryable, id: string): Promise<boolean> {
  const { rowCount } = await db.query(
    "update chat_messages set handled_at = clock_timestamp(), said = null where id = $1 and handled_at is null",
    [id],
  );
  return rowCount === 1;
}

/** When a chat was heard last. */
export async function lastHeardAt(db: Queryable, chat: ChatName): Promise<Date | null> {
  const { rows } = await db.query<{ at: Date | null }>(
    "select max(received_at) as at from chat_messages where chat = $1",
    [chat],
  );
  return rows[0]?.at ?? null;
}

export interface StoredThread extends ThreadName {
  id: string;
  jobId: string | null;
}

const threadColumns = 'id, chat, channel, thread, job_id as "jobId"';

export async function findThread(db: Queryable, at: ThreadName): Promise<StoredThread | null> {
  const { rows } = await db.query<StoredThread>(
    `select ${threadColumns} from chat_threads where chat = $1 and channel = $2 and thread = $3`,
    [at.chat, at.channel, at.thread],
  );
  return rows[0] ?? null;
}

export async function getThread(db: Queryable, id: string): Promise<StoredThread | null> {
  const { rows } = await db.query<StoredThread>(`select ${threadColumns} from chat_threads where id = $1`, [id]);
  return rows[0] ?? null;
}

/** Returns the thread's id. `jobId` null keeps the job that it has. */
export async function saveThread(db: Queryable, at: ThreadName, jobId: string | null): Promise<string> {
  const { rows } = await db.query<{ id: string }>(
    `insert into chat_threads as known (id, chat, channel, thread, job_id) values ($1, $2, $3, $4, $5)
     on conflict (chat, channel, thread) do update set job_id = coalesce(excluded.job_id, known.job_id) returning id`,
    [newId("cht"), at.chat, at.channel, at.thread, jobId],
  );
  return rows[0]?.id ?? "";
}

/** What a thread's job is, for those who read the thread. */
export interface ShownJob {
  id: string;
  project: string;
  status: "active" | "completed" | "archived" | "failed";
  round: number;
  isPlan: boolean;
  title: string | null;
  summary: string | null;
  reply: string | null;
  failure: { code: string; message: string } | null;
  pullRequest: { url: string; state: "open" | "merged" | "closed"; draft: boolean } | null;
  change: { files: number; additions: number; deletions: number } | null;
  introduced: number;
  /** Oldest first. Only the last one can be open. */
  questions: readonly {
    id: string;
    question: string;
    options: readonly string[];
    isOpen: boolean;
    answer: string | null;
    /** What a person must approve. Null: the agent's question. */
    constructs: readonly Pick<AskedConstruct, "path" | "line" | "text" | "count">[] | null;
  }[];
  /** What Emend refused of a job that then changed nothing. */
  refused: string | null;
}

export async function readShownJob(db: Queryable, jobId: string): Promise<ShownJob | null> {
  const { rows } = await db.query<ShownJob>(
    `select jobs.id, projects.name as project, status, jsonb_array_length(rounds) as round, plan as "isPlan", title, summary, reply,
       case when failure_code is not null then
         jsonb_build_object('code', failure_code, 'message', failure_message) end as failure,
       pull_request as "pullRequest", diff_figures as change,
       coalesce(jsonb_array_length(findings -> 'introduced'), 0) as introduced, refused,
       coalesce((select jsonb_agg(jsonb_build_object('id', asked.id::text, 'question', question, 'options', options, 'isOpen',
           status = 'active' and waiting_for = case when constructs is null then 'answer' else 'approval' end
             and waiting_since is not null and asked.id = (select max(id) from job_questions last where last.job_id = jobs.id),
           'constructs', constructs,
           'answer', case when constructs is not null then
             case decision when 'approved' then 'Publish' when 'declined' then 'Don''t publish' end || ' (' || decided_by || ')'
           else (select prompt from job_interjections heard where heard.job_id = jobs.id and heard.created_at > asked_at
             and not exists (select from job_questions next where next.job_id = jobs.id and next.id > asked.id
               and next.asked_at < heard.created_at)
             order by heard.id limit 1) end) order by asked.id)
         from job_questions asked where asked.job_id = jobs.id), '[]') as questions
     from jobs join projects on projects.id = project_id where jobs.id = $1`,
    [jobId],
  );
  return rows[0] ?? null;
}

export async function findJobProject(db: Queryable, jobId: string): Promise<string | null> {
  const { rows } = await db.query<{ id: string }>("select project_id as id from jobs where id = $1", [jobId]);
  return rows[0]?.id ?? null;
}

export interface StoredPost {
  id: string;
  key: string;
  words: string | null;
  message: string | null;
  shown: Content | null;
  begunAt: Date | null;
}

const postColumns = 'id, key, words, message, shown, begun_at as "begunAt"';

export async function listPosts(db: Queryable, threadId: string): Promise<readonly StoredPost[]> {
  const { rows } = await db.query<StoredPost>(
    `select ${postColumns} from chat_posts where thread_id = $1 order by id`,
    [threadId],
  );
  return rows;
}

/** The post of this key, as it was before this attempt. */
export async function reserveChatPost(db: Queryable, threadId: string, key: string): Promise<StoredPost> {
  const { rows } = await db.query<StoredPost>(
    `with before as (
       select ${postColumns} from chat_posts where thread_id = $2 and key = $3
     ), begun as (
       insert into chat_posts as known (id, thread_id, key, begun_at) values ($1, $2, $3, clock_timestamp())
       on conflict (thread_id, key) do update set begun_at = coalesce(known.begun_at, excluded.begun_at)
       returning id, key, words, message, shown
     )
     select begun.*, before."begunAt" from begun left join before using (id)`,
    [newId("chp"), threadId, key],
  );
  return rows[0] as StoredPost;
}

export async function savePost(db: Queryable, id: string, post: { message: string; shown: Content }): Promise<void> {
  await db.query("update chat_posts set message = $2, shown = $3 where id = $1", [
    id,
    post.message,
    JSON.stringify(post.shown),
  ]);
}

/** An answer to one message, which is posted once. */
export async function addReply(db: Queryable, threadId: string, messageId: string, words: string): Promise<void> {
  await db.query(
    "insert into chat_posts (id, thread_id, key, words) values ($1, $2, $3, $4) on conflict (thread_id, key) do nothing",
    [newId("chp"), threadId, `reply/${messageId}`, words],
  );
}

export interface ChatMember {
  id: string;
  email: string;
  role: Role;
}

/** By an account that an administrator linked. */
export async function findLinked(db: Queryable, chat: ChatName, account: string): Promise<ChatMember | null> {
  const { rows } = await db.query<ChatMember>(
    `select users.id, email, role from chat_accounts join users on users.id = user_id where chat = $1 and account = $2`,
    [chat, account],
  );
  return rows[0] ?? null;
}

export async function findByEmail(db: Queryable, email: string): Promise<ChatMember | null> {
  const { rows } = await db.query<ChatMember>("select id, email, role from users where lower(email) = $1", [email]);
  return rows[0] ?? null;
}

/** Lets a chat's account act as a member, or takes that back. */
export async function linkAccount(
  pool: Pool,
  input: { email: string; account: string; isLinked: boolean },
): Promise<void> {
  const [, chat, account] = /^(slack|mattermost)\/([A-Za-z0-9]{1,64})$/.exec(input.account) ?? [];
  if (!chat || !account) {
    throw new AppError("invalid_request", {
      publicMessage: `An account is slack/ID or mattermost/ID, not ${input.account}.`,
    });
  }
  await inTransactionAs(pool, consoleActor, async (client) => {
    const member = await findByEmail(client, readEmail(input.email) ?? "");
    if (!member) throw new AppError("not_found", { publicMessage: `no member has the address ${input.email}` });
    const values = [chat, account, member.id];
    if (input.isLinked) {
      await client.query(
        `insert into chat_accounts (chat, account, user_id) values ($1, $2, $3)
         on conflict (chat, account) do update set user_id = excluded.user_id`,
        values,
      );
    } else {
      await client.query("delete from chat_accounts where chat = $1 and account = $2 and user_id = $3", values);
    }
  });
}

/** The projects of a channel, and for a direct message all that have a channel of this chat. */
export async function listChatProjects(
  db: Queryable,
  at: { chat: ChatName; channel: string | null },
): Promise<readonly { id: string; name: string }[]> {
  const { rows } = await db.query<{ id: string; name: string }>(
    `select id, name from projects where exists (
       select from jsonb_array_elements_text(case jsonb_typeof(settings -> 'chatChannels')
         when 'array' then settings -> 'chatChannels' else '[]' end) named
       where case when $2::text is null then starts_with(named, $1 || '/') else named = $1 || '/' || $2 end)
     order by lower(name), id limit 50`,
    [at.chat, at.channel],
  );
  return rows;
}
