import { expect, it } from "vitest";
import { vetAnswer } from "./vet-answer.ts";

it("a credential in the name of an argument is neither run nor kept", async () => {
  const vetting = { redact: async (text: string) => text.replaceAll("s3cret", "…"), refuse: async () => null };
  const tools = Object.assign(() => true, { isWriting: () => true, pageAfter: async () => null });
  const input = { edits: [{ path: "a.md", s3cret: true }], deep: { a: { "x s3cret": 1 } } };
  const answer = { text: "", reasoning: [], toolCalls: [{ id: "1", name: "edit_file", input }] };
  const vetted = await vetAnswer(vetting, answer, tools, new AbortController().signal);
  expect(JSON.stringify(vetted.toolCalls)).not.toContain("s3cret");
  expect(vetted.refusals.get(0)).toContain("credential");
});

it("a glob says where, and is not judged as a page's code", async () => {
  const seen: string[] = [];
  const vetting = {
    redact: async (text: string) => text,
    refuse: async (text: string) => {
      seen.push(text);
      return null;
    },
  };
  const input = { from: "old", to: "new", exclude: "{es,fr}/**" };
  const answer = { text: "", reasoning: [], toolCalls: [{ id: "1", name: "replace_term", input }] };
  const tools = { isWriting: () => true, pageAfter: async () => null };
  await vetAnswer(vetting, answer, tools, new AbortController().signal);
  expect(seen.join()).toMatch(/\bold\b.*\bnew\b/s);
  expect(seen.join()).not.toContain("{es,fr}/**");
});

it("thoughts that hold a credential are dropped whole, and so is what the vendor keeps with such a call", async () => {
  const vetting = { redact: async (text: string) => text.replaceAll("s3cret", "…"), refuse: async () => null };
  const tools = { isWriting: () => true, pageAfter: async () => null };
  const signed = (text: string) => ({ text, metadata: { vendor: { signature: "s" } } });
  const call = (input: { content: string }) => ({
    id: "1",
    name: "write_file",
    input,
    metadata: { vendor: { repeats: input } },
  });
  const vet = (thought: string, input: { content: string }) =>
    vetAnswer(
      vetting,
      { text: "", reasoning: [signed("First."), signed(thought)], toolCalls: [call(input)] },
      tools,
      new AbortController().signal,
    );
  const clean = await vet("Then.", { content: "fine" });
  expect(clean.reasoning).toHaveLength(2);
  expect(clean.toolCalls).toEqual([call({ content: "fine" })]);
  expect((await vet("It is s3cret.", { content: "fine" })).reasoning).toEqual([]);
  const held = await vet("Then.", { content: "s3cret" });
  expect(held.toolCalls).toEqual([{ id: "1", name: "write_file", input: { content: "…" } }]);
});

it("a call of a hundred strings is judged once", async () => {
  const judged: string[] = [];
  const vetting = {
    redact: async (text: string) => text,
    refuse: async (text: string) => {
      judged.push(text);
      return text.includes("string 99") ? "no" : null;
    },
  };
  const edits = Array.from({ length: 100 }, (_, index) => ({ oldText: "none", newText: `string ${index}` }));
  const answer = { text: "", reasoning: [], toolCalls: [{ id: "1", name: "edit_file", input: { edits } }] };
  const tools = { isWriting: () => true, pageAfter: async () => null };
  const { refusals } = await vetAnswer(vetting, answer, tools, new AbortController().signal);
  expect(judged).toHaveLength(1);
  expect(refusals.get(0)).toBe("no");
});
