import { TreeFault } from "../faults.ts";
import type { BoundProcess } from "../git/bound-process.ts";
import type { Git } from "../git/git.ts";

/** Reads objects of one mirror through one long-lived process, which is started on demand and restarted if it dies. */
export interface BlobReader {
  /** Null if the mirror has no such object. */
  read(id: string): Promise<Buffer | null>;
  /** Ends the process; the next read starts another. Pending reads are still answered. */
  close(): Promise<void>;
}

interface Request {
  id: string;
  deaths: number;
  resolve(content: Buffer | null): void;
  reject(error: unknown): void;
}

const deathsMax = 2;
/** The timeout without any output while reads are pending. */
const stallMsMax = 60_000;
/** An open process keeps deleted packs on the disk. */
const idleMsMax = 60_000;

export function createBlobReader(git: Git, gitDir: string): BlobReader {
  let current: Session | null = null;

  function sessionOf(): Session {
    if (current?.open) return current;
    current = startSession(git, gitDir, retry);
    return current;
  }

  /** Responses are in order, so the first request caused the failure. The others are retried. */
  function retry(requests: readonly Request[]): void {
    const [first] = requests;
    if (first) first.deaths += 1;
    for (const request of requests) {
      if (request.deaths >= deathsMax) request.reject(unreadable(request.id));
      else askAnew(request);
    }
  }

  function askAnew(request: Request): void {
    try {
      sessionOf().ask(request);
    } catch (error) {
      request.reject(error);
    }
  }

  return {
    read: (id) =>
      new Promise((resolve, reject) => {
        sessionOf().ask({ id, deaths: 0, resolve, reject });
      }),
    async close() {
      const session = current;
      current = null;
      await session?.end();
    },
  };
}

export function unreadable(id: string): TreeFault {
  const publicMessage = "The mirror of the repository is damaged. Emend repairs it before the next use. Try again.";
  const message = `object ${id} cannot be read`;
  return new TreeFault("repository_unavailable", { publicMessage, message, retryable: true });
}

interface Session {
  readonly open: boolean;
  ask(request: Request): void;
  end(): Promise<void>;
}

function startSession(git: Git, gitDir: string, onDeath: (unanswered: readonly Request[]) => void): Session {
  const child: BoundProcess = git.start({ gitDir, args: ["cat-file", "--batch"] });
  const queue: Request[] = [];
  let open = true;
  let timer: NodeJS.Timeout | undefined;

  function watch(): void {
    clearTimeout(timer);
    timer = queue.length > 0 ? setTimeout(child.stop, stallMsMax) : setTimeout(close, idleMsMax).unref();
  }
  function close(): void {
    open = false;
    child.stdin.end();
  }

  const parse = createAnswerParser((content) => queue.shift()?.resolve(content));
  child.stdout.on("data", (chunk: Buffer) => {
    if (!parse(chunk)) child.stop();
    watch();
  });
  child.stderr.resume();
  const ended = child.ended
    .catch(() => undefined)
    .then(() => {
      open = false;
      clearTimeout(timer);
      onDeath(queue.splice(0));
    });

  return {
    get open() {
      return open;
    },
    ask(request) {
      queue.push(request);
      if (queue.length === 1) watch();
      // Requests of the same tick are written together.
      if (child.stdin.writableCorked === 0) {
        child.stdin.cork();
        process.nextTick(() => child.stdin.uncork());
      }
      child.stdin.write(`${request.id}\n`);
    },
    end() {
      close();
      return ended;
    },
  };
}

/**
 * Splits the stream into responses: a line with id, type and size, that many bytes, a line feed. False if it is
 * malformed.
 */
function createAnswerParser(onAnswer: (content: Buffer | null) => void): (chunk: Buffer) => boolean {
  let chunks: Buffer[] = [];
  let bytes = 0;
  let bodyBytes: number | null = null;

  return (chunk) => {
    chunks.push(chunk);
    bytes += chunk.length;
    for (;;) {
      // Chunks are joined only when complete: joining at every chunk would copy a large file many times.
      if (bodyBytes !== null && bytes < bodyBytes + 1) return true;
      const data = chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks);
      let rest: Buffer;
      if (bodyBytes === null) {
        const end = data.indexOf(10);
        if (end === -1) {
          chunks = [data];
          return data.length < 1000;
        }
        const header = data.toString("latin1", 0, end);
        rest = data.subarray(end + 1);
        const size = /^[0-9a-f]+ (?:blob|tree|commit|tag) (\d+)$/.exec(header)?.[1];
        if (size !== undefined) bodyBytes = Number(size);
        else if (header.endsWith(" missing")) onAnswer(null);
        else return false;
      } else {
        // A copy: a view would keep the whole chunk in memory.
        onAnswer(Buffer.from(data.subarray(0, bodyBytes)));
        rest = data.subarray(bodyBytes + 1);
        bodyBytes = null;
      }
      chunks = rest.length > 0 ? [rest] : [];
      bytes = rest.length;
      if (bytes === 0) return true;
    }
  };
}

/** An LRU cache of files by object id. */
export interface BlobCache {
  get(id: string): Buffer | undefined;
  put(id: string, content: Buffer): void;
}

/** One large file would evict hundreds of small ones. */
const entryShareMax = 1 / 16;

export function createBlobCache(bytesMax: number): BlobCache {
  const blobs = new Map<string, Buffer>();
  let bytes = 0;
  return {
    get(id) {
      const content = blobs.get(id);
      if (!content) return undefined;
      blobs.delete(id);
      blobs.set(id, content);
      return content;
    },
    put(id, content) {
      if (content.length > bytesMax * entryShareMax || blobs.has(id)) return;
      blobs.set(id, content);
      bytes += content.length;
      for (const [oldest, old] of blobs) {
        if (bytes <= bytesMax) break;
        blobs.delete(oldest);
        bytes -= old.length;
      }
    },
  };
}
