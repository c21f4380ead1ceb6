-- What people said to Emend in a chat. The same event, delivered twice, is one row.
create table chat_messages (
  id text primary key,
  chat text not null,
  channel text not null,
  thread text not null,
  message text not null,
  author text not null,
  -- Null once it was handled: nothing else needs the words.
  said jsonb,
  received_at timestamptz not null default clock_timestamp(),
  handled_at timestamptz,
  unique (chat, channel, message)
);
create index chat_messages_waiting on chat_messages (chat, channel, thread) where handled_at is null;
create index chat_messages_received on chat_messages (received_at);

-- A thread in which Emend was spoken to, and the job that it is about.
create table chat_threads (
  id text primary key,
  chat text not null,
  channel text not null,
  thread text not null,
  -- Null: no job was started.
  job_id text references jobs (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  unique (chat, channel, thread)
);
create index chat_threads_of_job on chat_threads (job_id) where job_id is not null;

-- What Emend posts in a thread: one message for each key, which is edited.
create table chat_posts (
  id text primary key,
  thread_id text not null references chat_threads (id) on delete cascade,
  -- `status/<job>/<round>`, `question/<id>` or `reply/<message>`.
  key text not null,
  -- Of a reply. The rest is made of the job.
  words text,
  -- The chat's id. Null: not posted, or the answer to the post was lost.
  message text,
  -- What the chat accepted last.
  shown jsonb,
  -- When it was sent for the first time: from then on, it is looked for before it is posted.
  begun_at timestamptz,
  unique (thread_id, key)
);

-- An account of a chat that an administrator linked to a member.
create table chat_accounts (
  chat text not null,
  account text not null,
  user_id text not null references users (id) on delete cascade,
  created_at timestamptz not null default clock_timestamp(),
  primary key (chat, account)
);
create index chat_accounts_of_user on chat_accounts (user_id);
-- functions: 6de577e819038515
