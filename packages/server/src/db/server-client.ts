import type { EventEmitter } from "node:events";
import pg from "pg";

/** What may answer, by libpq's names. Emend writes, so of several servers it wants the primary unless the URL says more. */
const wanted = {
  any: () => true,
  primary: (isStandby: boolean) => !isStandby,
  "read-write": (isStandby: boolean) => !isStandby,
  standby: (isStandby: boolean) => isStandby,
  "read-only": (isStandby: boolean) => isStandby,
} as const;

interface Servers {
  /** One URL for each, with the rest as it was given. */
  urls: readonly string[];
  wants: keyof typeof wanted;
}

/** The servers of a URL, which may name several, with commas between them. Null: it is no URL of Postgres. */
export function readServers(url: string): Servers | null {
  const [, start = "", hosts = "", rest = ""] = /^(postgres(?:ql)?:\/\/(?:[^@/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  const urls = hosts.split(",").map((host) => `${start}${host}${rest}`);
  if (start === "" || !urls.every((each) => URL.canParse(each))) return null;
  const several = urls.length > 1 ? "primary" : "any";
  const wants = new URL(urls[0] ?? "").searchParams.get("target_session_attrs") ?? several;
  return Object.hasOwn(wanted, wants) ? { urls, wants: wants as Servers["wants"] } : null;
}

/** Which server of a URL to try next. All connections of this thread share it: what one finds out, the others use. */
const turns = new Map<string, number>();

/** Whose turn it is: how often a server of this URL was given up. */
export function turnOf(url: string): number {
  return turns.get(url) ?? 0;
}

/** A client for one server of its URL. One that does not answer, or is not what the URL wants, makes it the next one's turn. */
export class ServerClient extends pg.Client {
  readonly #url: string;
  readonly #wants: Servers["wants"];
  readonly #turn: number;
  #isStandby = false;

  constructor(config: pg.ClientConfig) {
    const url = config.connectionString ?? "";
    const { urls, wants } = readServers(url) ?? { urls: [url], wants: "any" };
    const turn = turnOf(url);
    super({ ...config, connectionString: urls[turn % urls.length] ?? url });
    this.#url = url;
    this.#wants = wants;
    this.#turn = turn;
    const { connection } = this as unknown as { connection: EventEmitter };
    connection.on("parameterStatus", ({ parameterName, parameterValue }) => {
      if (parameterName === "in_hot_standby") this.#isStandby = parameterValue === "on";
    });
  }

  override connect(): Promise<pg.Client>;
  override connect(callback: (error: Error) => void): void;
  override connect(callback?: (error: Error) => void): Promise<pg.Client> | undefined {
    const connected = this.#connectToWanted();
    if (!callback) return connected;
    connected.then(() => callback(null as unknown as Error), callback);
    return undefined;
  }

  async #connectToWanted(): Promise<pg.Client> {
    try {
      await super.connect();
      if (wanted[this.#wants](this.#isStandby)) return this;
      await this.end();
      const found = this.#isStandby ? "a standby" : "a primary";
      throw Object.assign(new Error(`${this.host} is ${found}, and its URL asks for "${this.#wants}"`), {
        code: "57P03",
      });
    } catch (error) {
      // Not if another connection found out already.
      if (turnOf(this.#url) === this.#turn) turns.set(this.#url, this.#turn + 1);
      throw error;
    }
  }
}
