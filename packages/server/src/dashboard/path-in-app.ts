/** The app's own pages that somebody may have been on, as its router names them. */
const pages = ["jobs", "keys", "projects", "health", "usage", "pulls", "settings", "start"];
const segment = "[A-Za-z0-9_-]{1,100}";
const path = new RegExp(`^/app(/((${pages.join("|")})(/${segment}){0,3})?)?$`);
const query = /^[\w\-.~%+=&]{0,1000}$/;

/**
 * A page of the dashboard and nothing else: a login must not end on somebody's trap. No dot and no escape is in any of
 * their paths, so that none can climb, however a browser or a proxy reads it.
 */
export function pathInApp(to: unknown): string {
  if (typeof to !== "string") return "/app";
  const [before = "", ...after] = to.split("?");
  const search = after.join("?");
  if (!path.test(before)) return "/app";
  return search === "" || !query.test(search) ? before : `${before}?${search}`;
}
