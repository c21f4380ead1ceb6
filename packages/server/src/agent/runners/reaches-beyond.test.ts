import { expect, it } from "vitest";
import { reachesBeyond } from "./reaches-beyond.ts";

const part = (content: unknown) => ({ messages: [{ role: "user", content: [{ type: "text", text: "hi" }, content] }] });

it.each([
  { tools: [{ type: "web_search_20250305", name: "web_search" }] },
  { tools: [{ type: "web_fetch_20250910", name: "web_fetch" }] },
  { tools: [{ type: "web_search_preview" }] },
  { tools: [{ type: "mcp", server_url: "https://evil.example" }] },
  { tools: [{ type: "namespace", tools: [{ type: "web_search" }] }] },
  { mcp_servers: [{ type: "url", url: "https://evil.example" }] },
  { web_search_options: {} },
  part({ type: "image", source: { type: "url", url: "https://evil.example/x.png" } }),
  part({ type: "document", source: { type: "url", url: "https://evil.example/x.pdf" } }),
  part({ type: "image_url", image_url: { url: "https://evil.example/x.png" } }),
  part({ type: "tool_result", content: [{ type: "image", source: { type: "url", url: "https://evil.example" } }] }),
  { input: [{ role: "user", content: [{ type: "input_image", image_url: " HTTPS://evil.example/x.png" }] }] },
  { input: [{ role: "user", content: [{ type: "input_file", file_url: "https://evil.example/x.pdf" }] }] },
])("%j makes the vendor go elsewhere", (body) => {
  expect(reachesBeyond(body)).not.toBeNull();
});

it.each([
  {},
  null,
  [],
  { tools: null, mcp_servers: [], messages: [{ role: "user", content: "See https://known.test" }] },
  {
    tools: [{ name: "Read", input_schema: { type: "object" } }, { type: "text_editor_20250728" }, { type: "function" }],
  },
  part({ type: "image", source: { type: "base64", data: "AAAA" } }),
  { input: [{ type: "input_image", image_url: "data:image/png;base64,AAAA" }] },
  part({ type: "tool_use", input: { type: "image", source: { type: "url" } } }),
])("%j stays with the model", (body) => {
  expect(reachesBeyond(body)).toBeNull();
});

it("is done with what is nested deeply", () => {
  let deep: unknown = "x";
  for (let depth = 0; depth < 5_000; depth += 1) deep = [deep];
  expect(reachesBeyond({ messages: deep })).toBeNull();
});
