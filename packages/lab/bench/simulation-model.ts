// What the simulation takes and gives: figures of a machine, a load, a fleet, and the report.

/** Processor time in the processes of Emend and in Postgres, and time in which both wait: for the disk and each other. */
export interface Cost {
  nodeMs: number;
  postgresMs: number;
  waitMs?: number;
}

/** What `npm run bench -- scale` writes. */
export interface ScaleFigures {
  cores: number;
  processes: readonly {
    count: number;
    poll: Cost & { perSecond: number; walBytes: number; others: number; busy: number };
    create: Cost & { perSecond: number; walBytes: number; others: number; busy: number };
    job: Cost & { perSecond: number; walBytes: number; others: number; busy: number };
  }[];
  /** One stored turn, and a job without turns: without model, git and forge. */
  step: Cost & { walBytes: number };
  bareJob: Cost;
  database: {
    commitMs: number;
    commitsPerSecond: number;
    notifying: readonly { listeners: number; perSecond: number; postgresMs: number }[];
    claims: readonly { running: number; postgresMs: number }[];
    renewal: { leases: number; postgresMs: number };
  };
}

export interface Load {
  /** Poisson arrivals; 0 with `queuedAtStart` for a queue that is only worked off. */
  jobsPerSecond: number;
  queuedAtStart?: number;
  steps: number;
  /** The median of a model's answer. The spread is log-normal; 0 makes every turn equal. */
  turnMs: number;
  turnSpread: number;
  /** The forge's answers, while a pull request is published. */
  publishMs: number;
  /** How often a client asks for each active job. */
  pollEveryMs: number;
  projects: number;
  lanes: number;
}

export interface Fleet {
  apis: number;
  workers: number;
  /** Concurrent runs of a worker. */
  slots: number;
  /** Processors that a worker and the git processes below it can use at once. */
  workerCores: number;
  databaseCores: number;
  /** All of this on one machine, which has so many processors. */
  hostCores?: number;
  commitMs: number;
  connectionsPerProcess: number;
  /** Processes that hear every change of a job. */
  listeners: number;
}

export interface Costs {
  poll: Cost;
  create: Cost;
  /** Before the first turn and after the last. */
  job: Cost;
  turn: Cost;
  claimMs: number;
  /** More for each running job. */
  claimMsPerRun: number;
  noticeMsPerListener: number;
  renewalMs: number;
}

export interface Station {
  name: string;
  servers: number;
  utilisation: number;
  waitMsP99: number;
}

export interface Report {
  stations: readonly Station[];
  first: Station;
  jobsPerSecond: number;
  runningMean: number;
  queueMs: { p50: number; p99: number };
  createMs: { p50: number; p99: number };
  connections: number;
  /** Jobs that waited at the end. */
  queued: number;
}

export function costsOf(figures: ScaleFigures): Costs {
  const one = figures.processes[0];
  const { claims, notifying, renewal } = figures.database;
  const [idle, busy] = [claims[0], claims.at(-1)];
  const [few, many] = [notifying[0], notifying.at(-1)];
  if (!one || !idle || !busy || !few || !many) throw new Error("run first: npm run bench -- scale --write");
  const slope = (rise: number, run: number) => Math.max(0, rise / Math.max(1, run));
  return {
    poll: one.poll,
    create: one.create,
    job: one.job,
    turn: figures.step,
    claimMs: idle.postgresMs,
    claimMsPerRun: slope(busy.postgresMs - idle.postgresMs, busy.running - idle.running),
    noticeMsPerListener: slope(many.postgresMs - few.postgresMs, many.listeners - few.listeners),
    renewalMs: renewal.postgresMs,
  };
}

export function perProcessorSecond({ nodeMs, postgresMs }: { nodeMs: number; postgresMs: number }): number {
  return 1000 / (nodeMs + postgresMs);
}

/** The table of docs/results.md. */
export function scaleTable(figures: ScaleFigures): string {
  const cost = ({ nodeMs, postgresMs }: { nodeMs: number; postgresMs: number }) =>
    `${nodeMs.toFixed(2)} + ${postgresMs.toFixed(2)} ms`;
  const { database: limits, step } = figures;
  return [
    "| processes | polls/s | creates/s | whole local jobs/s | processors in use (of those, by others): polls, creates, jobs |",
    "|---:|---:|---:|---:|---|",
    ...figures.processes.map(
      ({ count, poll, create, job }) =>
        `| ${count} | ${poll.perSecond.toFixed(0)} | ${create.perSecond.toFixed(0)} | ${job.perSecond.toFixed(1)} | ${[poll, create, job].map(({ busy, others }) => `${busy.toFixed(1)} (${others.toFixed(1)})`).join(", ")} |`,
    ),
    "",
    "| processes | polls | creates | whole local jobs (for a second of processor time) |",
    "|---:|---:|---:|---:|",
    ...figures.processes.map(
      ({ count, poll, create, job }) =>
        `| ${count} | ${perProcessorSecond(poll).toFixed(0)} | ${perProcessorSecond(create).toFixed(0)} | ${perProcessorSecond(job).toFixed(1)} |`,
    ),
    "",
    "| processor time of one | Emend + Postgres | written to the log |",
    "|---|---:|---:|",
    ...(["poll", "create", "job"] as const).map((name) => {
      const one = figures.processes[0]?.[name];
      return one ? `| ${name} | ${cost(one)} | ${(one.walBytes / 1024).toFixed(1)} kB |` : "";
    }),
    `| stored turn of an agent | ${cost(step)} | ${(step.walBytes / 1024).toFixed(1)} kB |`,
    "",
    "| what the database bears | figure |",
    "|---|---:|",
    `| one commit on this disk | ${limits.commitMs.toFixed(2)} ms |`,
    `| commits/s, 16 connections | ${limits.commitsPerSecond.toFixed(0)} |`,
    ...limits.notifying.map(
      ({ listeners, perSecond }) =>
        `| commits/s that notify, 16 connections, ${listeners} listeners | ${perSecond.toFixed(0)} |`,
    ),
    ...limits.claims.map(
      ({ running, postgresMs }) =>
        `| claim beside ${running.toLocaleString("en")} running jobs, processor time | ${postgresMs.toFixed(1)} ms |`,
    ),
    `| renewal of one lease, in a batch of ${limits.renewal.leases}, processor time | ${(limits.renewal.postgresMs * 1000).toFixed(0)} µs |`,
  ].join("\n");
}
