// A discrete-event simulation of an installation, from costs that `npm run bench -- scale` measured: no database, no clock.
// Queues in it are first come, first served; a processor does one piece of work at a time.
import type { Costs, Fleet, Load, Report, Station } from "./simulation-model.ts";

const renewEveryMs = 4_000;
const togetherMs = 5;

interface Job {
  project: number;
  createdAt: number;
  stepsLeft: number;
  ended: boolean;
}

export function simulate(
  load: Load,
  fleet: Fleet,
  costs: Costs,
  times: { warmUpMs: number; ms: number; random: () => number },
): Report {
  const { random } = times;
  const endMs = times.warmUpMs + times.ms;
  let now = 0;
  const events = createHeap();
  const after = (ms: number, then: () => void) => events.push(now + ms, then);
  const isMeasured = () => now >= times.warmUpMs;

  // Processors of one machine are shared: with more pieces of work than processors each takes longer.
  let working = 0;
  const stations: { name: string; servers: number; busyMs: number; waits: number[]; inside: number }[] = [];
  function createStation(name: string, servers: number, usesHost = true) {
    const station = { name, servers, busyMs: 0, waits: [] as number[], inside: 0 };
    const waiting: { ms: number; since: number; then: () => void }[] = [];
    let [busy, head] = [0, 0];
    stations.push(station);
    const start = (ms: number, since: number, then: () => void) => {
      busy += 1;
      if (usesHost) working += 1;
      const slow = usesHost && fleet.hostCores ? Math.max(1, working / fleet.hostCores) : 1;
      if (isMeasured()) station.waits.push(now - since);
      after(ms * slow, () => {
        busy -= 1;
        if (usesHost) working -= 1;
        // What began before the measurement or ends after it counts only with its part inside.
        station.busyMs += Math.max(0, Math.min(now, endMs) - Math.max(now - ms * slow, times.warmUpMs));
        const next = waiting[head];
        if (next) {
          waiting[head++] = undefined as never;
          if (head > 4_096) {
            waiting.splice(0, head);
            head = 0;
          }
          start(next.ms, next.since, next.then);
        }
        then();
      });
    };
    return (ms: number, then: () => void) => {
      if (busy < servers) start(ms, now, then);
      else waiting.push({ ms, since: now, then });
    };
  }
  const api = createStation("api processors", fleet.apis);
  const workers = Array.from({ length: fleet.workers }, () => ({
    work: createStation("worker processors", fleet.workerCores),
    running: 0,
  }));
  const database = createStation("database processors", fleet.databaseCores);
  const noticeLock = createStation("commits that notify", 1, false);

  let querying = 0;
  let queryingMax = 0;
  const query = (ms: number, then: () => void) => {
    querying += 1;
    if (isMeasured()) queryingMax = Math.max(queryingMax, querying);
    database(ms, () => {
      querying -= 1;
      then();
    });
  };
  /** Every listener wakes. */
  const wakeListeners = () => query(costs.noticeMsPerListener * fleet.listeners, () => {});
  /** A commit that notifies holds a lock of the whole database until it is on the disk. */
  const commitAndNotify = (then: () => void) =>
    noticeLock(fleet.commitMs, () => {
      wakeListeners();
      then();
    });
  /** Each process sends together what came up in 5 ms. */
  let noticesDue = 0;
  const commit = (then: () => void) => {
    noticesDue += 1;
    after(fleet.commitMs, then);
  };
  const sendTogether = () => {
    const senders = Math.min(noticesDue, fleet.apis + fleet.workers);
    noticesDue = 0;
    // Nothing of it is written to the disk.
    for (let n = 0; n < senders; n += 1) noticeLock(0.05, wakeListeners);
    after(togetherMs, sendTogether);
  };
  after(togetherMs, sendTogether);

  const runningOf = new Map<number, number>();
  const parked = new Map<number, Job[]>();
  let eligible: Job[] = [];
  let eligibleHead = 0;
  let running = 0;
  let runningMs = 0;
  let lastAt = 0;
  let done = 0;
  const [queueMs, createMs]: [number[], number[]] = [[], []];
  const count = (change: number) => {
    if (isMeasured()) runningMs += running * (now - Math.max(lastAt, times.warmUpMs));
    lastAt = now;
    running += change;
  };

  function enqueue(job: Job): void {
    const busy = runningOf.get(job.project) ?? 0;
    if (busy >= load.lanes) parked.set(job.project, [...(parked.get(job.project) ?? []), job]);
    else {
      runningOf.set(job.project, busy + 1);
      eligible.push(job);
      claim();
    }
  }
  const free = workers.flatMap((worker) => Array.from({ length: fleet.slots }, () => worker));
  // Turn by turn, or the first worker would get all.
  for (let n = free.length - 1; n > 0; n -= 1) {
    const other = Math.floor(random() * (n + 1));
    [free[n], free[other]] = [free[other] as (typeof workers)[0], free[n] as (typeof workers)[0]];
  }
  function claim(): void {
    const worker = free.pop();
    const job = eligible[eligibleHead];
    if (!worker || !job) {
      if (worker) free.push(worker);
      return;
    }
    eligibleHead += 1;
    if (eligibleHead > 10_000) {
      eligible = eligible.slice(eligibleHead);
      eligibleHead = 0;
    }
    count(1);
    worker.running += 1;
    query(costs.claimMs + costs.claimMsPerRun * running, () =>
      commit(() => {
        if (isMeasured()) queueMs.push(now - job.createdAt);
        worker.work(costs.job.nodeMs / 2, () => turn(job, worker));
      }),
    );
  }
  function turn(job: Job, worker: (typeof workers)[0]): void {
    if (job.stepsLeft === 0) {
      end(job, worker);
      return;
    }
    job.stepsLeft -= 1;
    after(load.turnMs * Math.exp(load.turnSpread * gauss(random)) + (costs.turn.waitMs ?? 0), () =>
      worker.work(costs.turn.nodeMs, () => query(costs.turn.postgresMs, () => commit(() => turn(job, worker)))),
    );
  }
  function end(job: Job, worker: (typeof workers)[0]): void {
    worker.work(costs.job.nodeMs / 2, () =>
      after(load.publishMs + (costs.job.waitMs ?? 0), () =>
        query(costs.job.postgresMs, () =>
          commitAndNotify(() => {
            job.ended = true;
            count(-1);
            worker.running -= 1;
            if (isMeasured()) done += 1;
            const [next, ...others] = parked.get(job.project) ?? [];
            if (next) {
              if (others.length > 0) parked.set(job.project, others);
              else parked.delete(job.project);
              eligible.push(next);
            } else runningOf.set(job.project, (runningOf.get(job.project) ?? 1) - 1);
            free.push(worker);
            claim();
          }),
        ),
      ),
    );
  }
  function poll(job: Job): void {
    after(load.pollEveryMs * (0.5 + random()), () => {
      if (job.ended) return;
      api(costs.poll.nodeMs, () => query(costs.poll.postgresMs, () => poll(job)));
    });
  }
  function newJob(): Job {
    // Half of all jobs come from a quarter of the projects. None comes near its quota of 100 an hour.
    const share = random() < 0.5 ? random() / 4 : random();
    return { project: Math.floor(load.projects * share), createdAt: now, stepsLeft: load.steps, ended: false };
  }
  function arrive(): void {
    const job = newJob();
    api(costs.create.nodeMs, () =>
      query(costs.create.postgresMs, () =>
        after(fleet.commitMs, () => {
          if (isMeasured()) createMs.push(now - job.createdAt);
          job.createdAt = now;
          enqueue(job);
          if (load.pollEveryMs > 0) poll(job);
        }),
      ),
    );
    after(-Math.log(1 - random()) * (1000 / load.jobsPerSecond), arrive);
  }
  for (const worker of workers) {
    const renew = () => {
      if (worker.running > 0) query(costs.renewalMs * worker.running, () => {});
      after(renewEveryMs, renew);
    };
    after(renewEveryMs * random(), renew);
  }
  for (let n = 0; n < (load.queuedAtStart ?? 0); n += 1) enqueue(newJob());
  if (load.jobsPerSecond > 0) arrive();
  for (let next = events.pop(); next && next.at <= endMs; next = events.pop()) {
    now = next.at;
    next.then();
  }
  now = endMs;
  count(0);
  const merged = new Map<string, { servers: number; busyMs: number; waits: number[] }>();
  for (const { name, servers, busyMs, waits } of stations) {
    const all = merged.get(name) ?? { servers: 0, busyMs: 0, waits: [] };
    all.servers += servers;
    all.busyMs += busyMs;
    all.waits = all.waits.concat(waits);
    merged.set(name, all);
  }
  const found: Station[] = [...merged].map(([name, { servers, busyMs, waits }]) => ({
    name,
    servers,
    utilisation: busyMs / (servers * times.ms),
    waitMsP99: quantile(waits, 0.99),
  }));
  const slots = fleet.workers * fleet.slots;
  found.push({
    name: "worker slots",
    servers: slots,
    utilisation: runningMs / times.ms / slots,
    waitMsP99: quantile(queueMs, 0.99),
  });
  return {
    stations: found,
    first: saturatesFirst(found),
    jobsPerSecond: (done * 1000) / times.ms,
    runningMean: runningMs / times.ms,
    queueMs: { p50: quantile(queueMs, 0.5), p99: quantile(queueMs, 0.99) },
    createMs: { p50: quantile(createMs, 0.5), p99: quantile(createMs, 0.99) },
    connections: Math.min(queryingMax, (fleet.apis + fleet.workers) * fleet.connectionsPerProcess),
    queued: eligible.length - eligibleHead + [...parked.values()].reduce((sum, jobs) => sum + jobs.length, 0),
  };
}

/** Slots fill up when something behind them is full. */
function saturatesFirst(stations: readonly Station[]): Station {
  const behind = stations.filter(({ name, utilisation }) => name !== "worker slots" && utilisation > 0.95);
  const candidates = behind.length > 0 ? behind : stations;
  return candidates.reduce((most, one) => (one.utilisation > most.utilisation ? one : most));
}

function quantile(values: readonly number[], share: number): number {
  const sorted = Float64Array.from(values).sort();
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}

function gauss(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

interface Happening {
  at: number;
  then: () => void;
}

/** The earliest first; of those at the same time, any. */
function createHeap(): { push(at: number, then: () => void): void; pop(): Happening | undefined } {
  const heap: Happening[] = [];
  return {
    push(at, then) {
      let n = heap.length;
      heap.push({ at, then });
      while (n > 0) {
        const parent = (n - 1) >> 1;
        const above = heap[parent] as Happening;
        if (above.at <= at) break;
        heap[n] = above;
        n = parent;
      }
      heap[n] = { at, then };
    },
    pop() {
      const first = heap[0];
      const last = heap.pop();
      if (heap.length === 0 || !last) return first;
      let n = 0;
      for (;;) {
        let child = 2 * n + 1;
        if (child >= heap.length) break;
        if (child + 1 < heap.length && (heap[child + 1] as Happening).at < (heap[child] as Happening).at) child += 1;
        if ((heap[child] as Happening).at >= last.at) break;
        heap[n] = heap[child] as Happening;
        n = child;
      }
      heap[n] = last;
      return first;
    },
  };
}
