/** What the gateway knows about a vendor: its URL, its authentication, and the requests that an agent program needs. */
export interface RunnerVendor {
  name: string;
  /** Its default URL, with the version. */
  baseUrl: string;
  /** The header with a key. */
  credential(apiKey: string): readonly [name: string, value: string];
  /** Method and path (without the version) of model requests. Files, batches and administration are excluded. */
  asks: RegExp;
}

const anthropic: RunnerVendor = {
  name: "anthropic",
  baseUrl: "https://api.anthropic.com/v1",
  credential: (apiKey) => ["x-api-key", apiKey],
  asks: /^(?:POST \/messages(?:\/count_tokens)?|GET \/models(?:\/[\w.:-]+)?)$/,
};

const openai: RunnerVendor = {
  name: "openai",
  baseUrl: "https://api.openai.com/v1",
  credential: (apiKey) => ["authorization", `Bearer ${apiKey}`],
  asks: /^(?:POST \/(?:responses(?:\/compact)?|chat\/completions)|GET \/models(?:\/[\w.:-]+)?)$/,
};

/** The vendors that have programs. */
export const runnerVendors: readonly RunnerVendor[] = [anthropic, openai];

/** What a program may send to a vendor in one kind of request: nothing that is not listed here. */
export interface RequestProtocol {
  /** The settings that the known programs send, by name. */
  fields: ReadonlySet<string>;
  /** Tools that the program runs itself. A vendor's own tools read, call and run things elsewhere. */
  tools: RegExp;
  /** The type of a tool without a type. */
  usualTool: string | null;
  /** The message part whose `input` may contain anything. */
  callType: string | null;
  /** How the vendor is told to store nothing: always, only if stated, or never. */
  store: "always" | "where said" | "never";
}

const messages: RequestProtocol = {
  fields: names(
    "model messages system max_tokens metadata stop_sequences stream temperature top_k top_p tools tool_choice thinking",
    "context_management compaction output_config output_format cache_control service_tier speed inference_geo",
    "fallbacks diagnostics",
  ),
  tools: /^(?:custom|(?:bash|text_editor|computer|memory)_\d{8}|tool_search_tool_(?:regex|bm25)(?:_\d{8})?)$/,
  usualTool: "custom",
  callType: "tool_use",
  store: "never",
};

const clientTools = /^(?:function|custom|namespace|tool_search|local_shell|apply_patch)$/;

const responses: RequestProtocol = {
  fields: names(
    "model input instructions tools tool_choice parallel_tool_calls max_tool_calls reasoning store stream",
    "stream_options include service_tier prompt_cache_key prompt_cache_options prompt_cache_retention text truncation",
    "client_metadata metadata user safety_identifier temperature top_p top_logprobs max_output_tokens",
    "context_management",
  ),
  tools: clientTools,
  usualTool: null,
  callType: null,
  store: "always",
};

const completions: RequestProtocol = {
  fields: names(
    "model messages tools tool_choice parallel_tool_calls stream stream_options temperature top_p max_tokens",
    "max_completion_tokens stop seed presence_penalty frequency_penalty logit_bias logprobs top_logprobs user",
    "response_format reasoning_effort verbosity metadata store service_tier prediction prompt_cache_key",
    "prompt_cache_options prompt_cache_retention safety_identifier",
  ),
  tools: clientTools,
  usualTool: null,
  callType: null,
  store: "where said",
};

/** By path, without the version. */
export const requestProtocols: Readonly<Record<string, RequestProtocol>> = {
  "/messages": messages,
  "/messages/count_tokens": messages,
  "/responses": responses,
  "/responses/compact": { ...responses, store: "where said" },
  "/chat/completions": completions,
};

function names(...lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => line.split(" ")));
}
