import { APICallError, JSONParseError, TypeValidationError } from "@ai-sdk/provider";
import { expect, test } from "vitest";
import { modelFault } from "./sdk-model.ts";

const refusal = (responseHeaders: Record<string, string>) =>
  new APICallError({ message: "slow down", url: "http://x", requestBodyValues: {}, statusCode: 429, responseHeaders });

test.each<[string, Record<string, string>, unknown]>([
  ["seconds", { "retry-after": "90" }, 90_000],
  ["milliseconds", { "retry-after-ms": "1500", "retry-after": "90" }, 1_500],
  ["a day and time that is over", { "retry-after": "Thu, 01 Jan 2015 00:00:00 GMT" }, 0],
  ["a day and time that is far off", { "retry-after": "Fri, 01 Jan 2100 00:00:00 GMT" }, 3_600_000],
  ["words", { "retry-after": "soon" }, undefined],
  ["nothing", {}, undefined],
])("when to ask again is read from %s", (_form, headers, retryAfterMs) => {
  const fault = modelFault("a/model", refusal(headers), null);
  expect(fault).toMatchObject({ code: "model_unavailable", retryable: true });
  expect(fault.retryAfterMs).toBe(retryAfterMs);
});

test("an answer that cannot be parsed is told in our words, and not asked for again", () => {
  const text = "the model's own words";
  for (const error of [
    new JSONParseError({ text, cause: new SyntaxError(text) }),
    new TypeValidationError({ value: { text }, cause: new Error(text) }),
    new Error(text, { cause: new RangeError("Maximum call stack size exceeded") }),
  ]) {
    const fault = modelFault("a/model", error, null);
    expect(fault).toMatchObject({ retryable: false });
    expect(`${fault.publicMessage} ${(fault.cause as Error).message}`).not.toContain(text);
  }
});
