import { once } from "node:events";
import { connect } from "node:net";

/**
 * Repeats both in turn, so that whatever else the machine does meets both alike. The figure is the median of the ratios
 * of neighbours, after rounds that only warm up: a compiler that is still at work is no property of either.
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
 * Requests a second over some kept-alive connections, each with one request under way. Sockets and byte counts instead
 * of a client library: what loads must cost less than what is loaded. Every answer must have the first one's length.
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
