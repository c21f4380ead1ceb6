import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";

/** The wished port, so that links of an earlier run stay good, or any free one where it is taken. */
export async function freePort(wishedPort: number): Promise<number> {
  return (await tryPort(wishedPort)) ?? (await tryPort(0)) ?? 0;
}

async function tryPort(port: number): Promise<number | null> {
  const probe = createServer();
  try {
    probe.listen(port, "127.0.0.1");
    await once(probe, "listening");
  } catch {
    return null;
  }
  const found = (probe.address() as AddressInfo).port;
  probe.close();
  await once(probe, "close");
  return found;
}
