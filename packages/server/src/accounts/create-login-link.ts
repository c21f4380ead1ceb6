import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { linkUrl } from "./links.ts";
import { hashToken, newToken } from "./session-store.ts";

const linkMinutes = 60;

/**
 * A link that logs one browser in, once, and lands on `landsOn`: a path below this installation, or a whole URL of
 * it, such as a pull request's. For the console of whoever runs the installation.
 */
export async function createLoginLink(
  deps: { db: Queryable; publicUrl: string },
  input: { landsOn: string },
): Promise<string> {
  const token = newToken();
  await deps.db.query(
    `with swept_links as (delete from login_links where expires_at < clock_timestamp() - interval '1 day'),
          swept_sessions as (delete from sessions where expires_at < clock_timestamp())
     insert into login_links (token_hash, lands_on, expires_at)
     values ($1, $2, clock_timestamp() + make_interval(mins => $3))`,
    [hashToken(token), pathBelow(deps.publicUrl, input.landsOn), linkMinutes],
  );
  return linkUrl(deps.publicUrl, token);
}

/** Nothing but our own pages: a link that lands elsewhere would lend our name to somebody's trap. */
function pathBelow(publicUrl: string, landsOn: string): string {
  const path = landsOn.startsWith(`${publicUrl}/`) ? landsOn.slice(publicUrl.length) : landsOn;
  const resolved = URL.parse(`${publicUrl}${path}`);
  if (/^\/(?![/\\])/.test(path) && resolved?.href.startsWith(`${publicUrl}/`)) return path;
  throw new AppError("invalid_request", {
    publicMessage: `A login link can't open ${landsOn}. Use a path of this installation.`,
  });
}
