import { once } from "node:events";
import { connect } from "node:net";

/**
 * Alternates both, so that noise affects both equally. The result is the median ratio of neighbors, after warm-up
 * rounds.
 */
export async function compare(
  ours: () => Promise<number>,
  yardstick: () => Promise<number>,
  options: { warmUps: number; rounds: number },
): Promise<{ ours: number; yardstick: number; ratio: number }> {
  const rates: { ours: number; yardstick: number }[] = [];
  for (let round = 0; round < options.warmUps + options.rounds; round += 1) {
    const rate = { ours: await ours(), yardstick: await yardstick() };
    if (round >= options.warmUps) rates.push(rate);
  }
  return {
    ours: median(rates.map((rate) => rate.ours)),
    yardstick: median(rates.map((rate) => rate.yardstick)),
    ratio: median(rates.map((rate) => rate.ours / rate.yardstick)),
  };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/**
 * Requests per second over keep-alive connections, one request each at a time. Plain sockets instead of a client
 * library, so that the load generator costs less than the server. All responses must have the same length.
 */
export async function requestRate(
  port: number,
  request: string,
  options: { connections: number; ms: number },
): Promise<number> {
  let isOver = false;
  let answers = 0;
  const bytes = Buffer.from(request);

  async function client(): Promise<void> {
    const socket = connect(port, "127.0.0.1").setNoDelay(true);
    await once(socket, "connect");
    let length = 0;
    let received = 0;
    socket.on("data", (chunk) => {
      if (length === 0) length = answerLength(chunk);
      received += chunk.length;
      if (received < length) return;
      if (received > length) throw new Error("an answer of another length");
      received = 0;
      answers += 1;
      if (isOver) socket.destroy();
      else socket.write(bytes);
    });
    socket.write(bytes);
    await once(socket, "close");
  }

  const startedAt = performance.now();
  const clients = Array.from({ length: options.connections }, client);
  setTimeout(() => {
    isOver = true;
  }, options.ms);
  await Promise.all(clients);
  return (answers * 1000) / (performance.now() - startedAt);
}

function answerLength(chunk: Buffer): number {
  const text = chunk.toString("latin1");
  if (!text.startsWith("HTTP/1.1 200")) throw new Error(text.slice(0, 200));
  const head = text.indexOf("\r\n\r\n") + 4;
  return head + Number(/content-length: (\d+)/i.exec(text)?.[1]);
}
