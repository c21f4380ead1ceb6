import { describe, expect, it } from "vitest";
import { refusalOf } from "./api-refusal.ts";

const inHalfAnHour = String(Math.floor(Date.now() / 1000) + 1800);
/** Every GitHub response has these headers, independent of its status. */
const quotaLeft = { "x-ratelimit-remaining": "4321", "x-ratelimit-reset": inHalfAnHour };
const quotaUsed = { "x-ratelimit-remaining": "0", "x-ratelimit-reset": inHalfAnHour };
const refusal = (status: number, headers: Record<string, string>, message = "Oops") =>
  refusalOf("GitHub", { status, headers: new Headers(headers), body: { message } }, "open a pull request");

describe("what a refusal means for the token", () => {
  it.each([
    ["a 502 while the quota lasts", 502, quotaLeft, "Bad Gateway", undefined, false],
    ["a 500 although the quota is used up", 500, quotaUsed, "Oops", undefined, false],
    ["a 503 that names a time", 503, { ...quotaLeft, "retry-after": "120" }, "Busy", 120_000, false],
    ["a secondary limit that names a time", 403, { ...quotaLeft, "retry-after": "30" }, "Wait", 30_000, true],
    ["a secondary limit that names none", 403, quotaLeft, "You have exceeded a secondary rate limit", 60_000, true],
    ["a 429 that names none", 429, quotaLeft, "Too many requests", 60_000, true],
  ])("%s", (_what, status, headers, message, retryAfterMs, isRateLimit) => {
    expect(refusal(status, headers, message)).toMatchObject({
      code: "forge_unavailable",
      retryable: true,
      retryAfterMs,
      isRateLimit,
    });
  });

  it("waits until the limit is renewed where nothing of it remains", () => {
    const error = refusal(403, quotaUsed, "API rate limit exceeded");
    expect(error).toMatchObject({ code: "forge_unavailable", isRateLimit: true });
    expect(error.retryAfterMs).toBeGreaterThan(1_790_000);
  });

  it("says of an archived repository what it is, whatever the status", () => {
    const words = refusal(403, quotaLeft, "Repository was archived so is read-only.").publicMessage;
    expect(words).toContain("Unarchive it");
    expect(words).not.toContain("token may not");
  });

  it.each([
    ["https://git.test/api/v1/repos/a/b?token=x", "(https://git.test/api/v1/repos/a/b)"],
    ["/api/v1/repos/a/b?token=x", "(/api/v1/repos/a/b)"],
  ])("says where a repository moved to: %s", (location, told) => {
    expect(refusal(301, { location }, "").publicMessage).toContain(`The repository has moved ${told}.`);
  });

  it("is for good where the quota lasts and no limit is named", () => {
    expect(refusal(403, quotaLeft, "Resource not accessible")).toMatchObject({ code: "forge_rejected" });
  });
});
