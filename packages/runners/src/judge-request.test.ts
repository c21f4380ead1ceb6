import { describe, expect, it } from "vitest";
import { judgeRequest, measureJson } from "./judge-request.ts";
import { requestProtocols } from "./vendors.ts";

const elsewhere = "https://evil.example/x.png";

function judged(path: string, body: unknown) {
  const protocol = requestProtocols[path];
  if (!protocol) throw new Error(`nothing is known of ${path}`);
  return judgeRequest({ protocol, model: null }, body);
}

const said = (...content: unknown[]) => ({
  messages: [{ role: "user", content: [{ type: "text", text: "hi" }, ...content] }],
});
const input = (...content: unknown[]) => ({ input: [{ role: "user", content }] });

describe("what would make the vendor go elsewhere, or open what is kept there, is refused", () => {
  it.each([
    { tools: [{ type: "web_search_20250305", name: "web_search" }] },
    { tools: [{ name: "Read" }, { type: "web_fetch_20250910" }] },
    { tools: [{ type: "code_execution_20250825" }] },
    { tools: [{ type: "mcp_toolset", mcp_server_name: "x" }] },
    { tools: { type: "web_search" } },
    { mcp_servers: [{ type: "url", url: "https://evil.example" }] },
    { container: "container_of_another" },
    { thread: { type: "continue", previous_message_id: "msg_of_another" } },
    said({ type: "image", source: { type: "url", url: elsewhere } }),
    said({ type: "image", source: { type: "file", file_id: "file_of_another" } }),
    said({ type: "tool_result", content: [{ type: "image", source: { type: "url", url: elsewhere } }] }),
    said({ source: { type: "base64", data: "AAAA" } }),
    { messages: [{ role: "system", tools: [{ type: "web_search_20250305" }] }] },
    { fallbacks: [{ model: "x:online" }] },
  ])("messages: %j", (body) => {
    expect(judged("/messages", body).kind).toBe("refused");
  });

  it.each([
    { model: "o4-mini-deep-research" },
    { model: { id: "gpt-5" } },
    { tools: [{ type: "web_search_preview" }] },
    { tools: [{ type: "shell", environment: { type: "container_auto" } }] },
    { tools: [{ type: "image_generation", input_image_mask: { image_url: elsewhere } }] },
    { tools: [{ type: "file_search", vector_store_ids: ["vs_1"] }] },
    { tools: [{ type: "code_interpreter", container: { type: "auto" } }] },
    { tools: [{ type: "computer_use_preview" }] },
    { tools: [{ type: "mcp", server_url: "https://evil.example" }] },
    { tools: [{ type: "namespace", tools: [{ type: "web_search" }] }] },
    { tools: [{ type: "custom", server_url: "https://evil.example" }] },
    { tools: [{ name: "of no type" }] },
    { input: [{ type: "tool_search_output", tools: [{ type: "mcp", server_url: "https://evil.example" }] }] },
    { input: [{ type: "additional_tools", TOOLS: [{ type: "mcp" }] }] },
    { input: [{ type: "tool_use", input: [{ type: "input_image", image_url: elsewhere }] }] },
    { input: [{ type: "item_reference", id: "msg_of_another" }] },
    { input: [{ id: "msg_of_another" }] },
    { prompt: { id: "pmpt_1", variables: { a: { type: "input_image", image_url: elsewhere } } } },
    { conversation: "conv_of_another" },
    { previous_response_id: "resp_of_another" },
    { background: true },
    input({ type: "input_image", image_url: elsewhere }),
    input({ type: "input_image", image_url: ` HTTPS://evil.example/x.png` }),
    input({ type: "input_image", image_url: `\u0001${elsewhere}` }),
    input({ type: "input_image", image_url: "//evil.example/x.png" }),
    input({ type: "input_image", Image_URL: [elsewhere] }),
    input({ type: "input_file", file_url: elsewhere }),
    input({ type: "input_file", file_id: "file_of_another" }),
    input({ type: "input_audio", audio_url: elsewhere }),
  ])("responses: %j", (body) => {
    expect(judged("/responses", body).kind).toBe("refused");
  });

  it.each([
    { model: "gpt-4o-search-preview" },
    { model: "some/model:online" },
    { plugins: [{ id: "web" }] },
    { web_search_options: {} },
    said({ type: "image_url", image_url: { url: elsewhere } }),
    said({ type: "image_url", image_url: { address: elsewhere } }),
    said({ type: "video_url", video_url: { url: elsewhere } }),
    said({ image_url: { url: elsewhere } }),
    said({ type: "file", file: { file_id: "file_of_another" } }),
  ])("completions: %j", (body) => {
    expect(judged("/chat/completions", body).kind).toBe("refused");
  });

  it.each([[null], [[]], ["x"], [1]])("a body that is %j", (body) => {
    expect(judged("/messages", body).kind).toBe("refused");
  });
});

it("names a setting that it does not know", () => {
  expect(judged("/messages", { messages: [], new_setting: 1 })).toMatchObject({
    words: expect.stringContaining('"new_setting"'),
  });
});

describe("what the known programs send passes as it is", () => {
  it.each([
    {
      model: "claude-sonnet-4-5",
      max_tokens: 32_000,
      stream: true,
      system: [{ type: "text", text: "See https://known.test", cache_control: { type: "ephemeral", scope: "global" } }],
      metadata: { user_id: "user_1" },
      thinking: { type: "adaptive" },
      context_management: { edits: [{ type: "clear_thinking_20251015", keep: "all" }] },
      output_config: {
        effort: "high",
        format: { type: "json_schema", schema: { properties: { url: { description: "An address: x" } } } },
      },
      diagnostics: { previous_message_id: null },
      tools: [
        { name: "WebFetch", input_schema: { properties: { url: { type: "string", description: "an address" } } } },
        { type: "text_editor_20250728", name: "str_replace_based_edit_tool" },
        { type: "bash_20250124", name: "bash" },
      ],
      messages: [
        { role: "user", content: "Read https://known.test" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "…", signature: "AAAA" },
            {
              type: "tool_use",
              id: "1",
              name: "WebFetch",
              input: { url: "https://known.test", file_id: "x", tools: "y" },
            },
          ],
        },
        {
          role: "user",
          content: [
            {
              type: "tool_result",
              tool_use_id: "1",
              content: [{ type: "image", source: { type: "base64", data: "AA==" } }],
            },
          ],
        },
      ],
    },
    {},
  ])("messages: %j", (body) => {
    expect(judged("/messages", body)).toEqual({ kind: "passed", body });
  });

  it("Codex", () => {
    const body = {
      model: "gpt-5-codex",
      instructions: "You are Codex.",
      input: [
        { type: "message", role: "user", content: [{ type: "input_text", text: "https://known.test" }] },
        {
          type: "message",
          role: "user",
          content: [{ type: "input_image", image_url: "data:image/png;base64,AA==", detail: "auto" }],
        },
        { type: "reasoning", id: "rs_1", summary: [], encrypted_content: "AAAA" },
        { type: "function_call", name: "shell", arguments: '{"url":"https://known.test"}', call_id: "1" },
        { type: "function_call_output", call_id: "1", output: "done: https://known.test" },
        { type: "custom_tool_call", name: "apply_patch", input: "*** Begin Patch", call_id: "2" },
        { type: "custom_tool_call_output", call_id: "2", output: [{ type: "input_text", text: "ok" }] },
        { type: "tool_search_output", call_id: "3", execution: "client", tools: [{ type: "function", name: "x" }] },
      ],
      tools: [
        {
          type: "function",
          name: "shell",
          strict: false,
          parameters: { properties: { image_url: { description: "a: b" } } },
        },
        { type: "custom", name: "apply_patch", format: { type: "grammar", syntax: "lark", definition: "x: y" } },
        { type: "namespace", name: "n", tools: [{ type: "function", name: "y" }] },
        { type: "tool_search", execution: "client", description: "x", parameters: {} },
      ],
      tool_choice: "auto",
      parallel_tool_calls: false,
      reasoning: { effort: "medium", summary: "auto" },
      store: false,
      stream: true,
      include: ["reasoning.encrypted_content"],
      prompt_cache_key: "k",
      text: { verbosity: "low" },
      client_metadata: { "x-codex-installation-id": "i" },
    };
    expect(judged("/responses", body)).toEqual({ kind: "passed", body });
  });

  it("completions, with a picture in the request", () => {
    const body = {
      model: "gpt-5",
      tools: [
        { type: "function", function: { name: "read", parameters: { properties: { url: { description: "a: b" } } } } },
      ],
      ...said({ type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "high" } }),
    };
    expect(judged("/chat/completions", body)).toEqual({ kind: "passed", body });
  });

  it("a list of servers that is empty, without it", () => {
    expect(judged("/messages", { messages: [], mcp_servers: [], container: null })).toEqual({
      kind: "passed",
      body: { messages: [] },
    });
  });
});

it("turns off the vendor's storage", () => {
  expect(judged("/responses", { input: "x", store: true })).toMatchObject({ body: { store: false } });
  expect(judged("/responses", { input: "x" })).toMatchObject({ body: { store: false } });
  expect(judged("/chat/completions", { messages: [], store: true })).toMatchObject({ body: { store: false } });
  expect(judged("/responses/compact", { input: "x" })).toEqual({ kind: "passed", body: { input: "x" } });
});

it("is done with what is nested deeply", () => {
  let deep: unknown = "x";
  for (let depth = 0; depth < 5_000; depth += 1) deep = [deep];
  expect(judged("/messages", { messages: deep }).kind).toBe("passed");
});

it.each([
  ['{"a":[1,2,{"b":null}]}', { nodes: 5, depth: 3 }],
  ['"[{,"', { nodes: 0, depth: 0 }],
  ['["\\"[{,", "\\\\"]', { nodes: 2, depth: 1 }],
  ["[[],[],[]]", { nodes: 6, depth: 2 }],
  ["", { nodes: 0, depth: 0 }],
])("measures %s", (text, size) => {
  expect(measureJson(Buffer.from(text))).toEqual(size);
});
