import { afterEach, expect, it, vi } from "vitest";
import { type ApiError, request, sessionEnded } from "./request.ts";

afterEach(() => vi.unstubAllGlobals());
const answerWith = (...given: ConstructorParameters<typeof Response>) =>
  vi.stubGlobal("fetch", async () => new Response(...given));
const refusal = (path = "/jobs") =>
  request(path).then(
    () => "answered",
    (error: ApiError) => [error.status, error.message],
  );

it("gives what was answered, and nothing for an answer without words", async () => {
  answerWith('{"jobs":[]}');
  expect(await request("/jobs")).toEqual({ jobs: [] });
  answerWith(null, { status: 204 });
  expect(await request("/jobs")).toBeNull();
});

it("takes no page of something in between, and no answer that broke off, for the server's", async () => {
  answerWith("<title>Log in to the network</title>");
  expect(await refusal()).toEqual([0, expect.stringContaining("not from Emend")]);
  answerWith('{"jobs":[');
  expect(await refusal()).toEqual([0, expect.stringContaining("not from Emend")]);
});

it("tells a refusal in the server's words, with how long to wait, and otherwise in its own", async () => {
  answerWith('{"error":"Too many."}', { status: 429, headers: { "retry-after": "300" } });
  expect(await refusal()).toEqual([429, "Too many. Try again in 5 minutes."]);
  answerWith("<h1>Bad gateway</h1>", { status: 502 });
  expect(await refusal()).toEqual([502, expect.stringContaining("Your text is still here")]);
  vi.stubGlobal("fetch", async () => Promise.reject(new TypeError("fetch failed")));
  expect(await refusal()).toEqual([0, expect.stringContaining("Can't reach the server")]);
});

it("tells of a session that ended, but not of a password that was wrong", async () => {
  const told = vi.fn();
  sessionEnded.addEventListener("ended", told, { once: true });
  answerWith('{"error":"No."}', { status: 401 });
  await refusal("/auth/login");
  expect(told).not.toHaveBeenCalled();
  await refusal("/jobs");
  expect(told).toHaveBeenCalledOnce();
});
