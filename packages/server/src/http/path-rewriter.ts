/**
 * Brings a request's target to the form that routes know: without the base path of the public URL, which a proxy may or
 * may not have taken off, and without the authority of an absolute target.
 */
export function createPathRewriter(publicUrl: () => string): (url: string) => string {
  let basePath: string | null = null;
  return (url) => {
    // Until the port is bound there may be no public URL; it is asked for again then.
    basePath ??= URL.parse(publicUrl())?.pathname.replace(/\/+$/, "") ?? null;
    const path = url.startsWith("/") ? url : url.replace(/^https?:\/\/[^/?#]*/i, "");
    if (!basePath || !path.startsWith(basePath)) return path;
    const rest = path.slice(basePath.length);
    if (rest === "" || rest.startsWith("?")) return `/${rest}`;
    return rest.startsWith("/") ? rest : path;
  };
}
