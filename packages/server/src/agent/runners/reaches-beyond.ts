/** Tools that a vendor runs itself, and that read or call what a request names. */
const reachingTool = /web|browser|fetch|mcp|connector|search_preview/i;
/** Parts of a message whose content a vendor fetches from an address. */
const addressed = /^(?:https?|ftp|wss?):/i;

/**
 * What in a request would make the vendor go elsewhere for it, in words, or null. A sandbox that reaches its model alone
 * must not have the model's own servers read pages, pictures and tools that a page of the docs names.
 */
export function reachesBeyond(body: unknown): string | null {
  const { tools, mcp_servers: servers, web_search_options: search, ...rest } = recordOf(body);
  if (Array.isArray(servers) ? servers.length > 0 : servers !== undefined && servers !== null) return "MCP servers";
  if (search !== undefined) return "web search";
  return reachingToolIn(tools) ?? fetchedPartIn([rest.messages, rest.input, rest.system]);
}

function reachingToolIn(tools: unknown): string | null {
  if (!Array.isArray(tools)) return null;
  for (const tool of tools.map(recordOf)) {
    if (typeof tool.type === "string" && reachingTool.test(tool.type)) return `the tool ${tool.type.slice(0, 100)}`;
    const within = reachingToolIn(tool.tools);
    if (within !== null) return within;
  }
  return null;
}

/** Looked for wherever parts may be nested; a stack, because what is nested deeply must not exhaust ours. */
function fetchedPartIn(values: readonly unknown[]): string | null {
  const left = [...values];
  while (left.length > 0) {
    const value = left.pop();
    if (Array.isArray(value)) for (const inner of value) left.push(inner);
    else if (typeof value === "object" && value !== null) {
      const part = recordOf(value);
      if (isFetched(part)) return `content at another address (${String(part.type).slice(0, 100)})`;
      // A call's own input is words to the vendor, whatever it holds.
      for (const [name, inner] of Object.entries(part))
        if (name !== "input" || part.type !== "tool_use") left.push(inner);
    }
  }
  return null;
}

function isFetched({ type, source, image_url: image, file_url: file }: Record<string, unknown>): boolean {
  if (typeof type !== "string") return false;
  if (recordOf(source).type === "url") return true;
  const addresses = [typeof image === "string" ? image : recordOf(image).url, file];
  return addresses.some((address) => typeof address === "string" && addressed.test(address.trim()));
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
