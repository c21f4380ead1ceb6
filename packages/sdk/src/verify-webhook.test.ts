import { createHmac } from "node:crypto";
import { expect, test } from "vitest";
import { verifyWebhook, type WebhookRequest } from "./verify-webhook.ts";

// The example from the Standard Webhooks libraries.
const secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const known = {
  secret,
  headers: {
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  },
  body: '{"test": 2432232314}',
  nowMs: 1_614_265_330_000,
};

function signed(body: string, change: Partial<WebhookRequest> = {}): WebhookRequest {
  const nowMs = 1_800_000_000_000;
  const timestamp = String(nowMs / 1000);
  const key = Buffer.from(secret.slice(6), "base64");
  const signature = createHmac("sha256", key).update(`msg_1.${timestamp}.${body}`).digest("base64");
  const headers = {
    "Webhook-Id": "msg_1",
    "Webhook-Timestamp": timestamp,
    "Webhook-Signature": `v1a,x v1,AAAA v1,${signature}`,
  };
  return { secret, headers, body, nowMs, ...change };
}

const event = { type: "job.completed", timestamp: "2027-01-15T08:00:00.000Z", data: { id: "job_1" } };

test("accepts the signature of the specification's example, which is no event of ours", async () => {
  await expect(verifyWebhook(known)).rejects.toMatchObject({ kind: "invalid_response" });
  await expect(verifyWebhook({ ...known, body: `${known.body} ` })).rejects.toMatchObject({
    kind: "invalid_signature",
  });
});

test("returns the event, from text or bytes, Headers or a record, one good signature among several", async () => {
  const request = signed(JSON.stringify(event));
  const expected = { ...event, id: "msg_1" };
  expect(await verifyWebhook(request)).toEqual(expected);
  expect(await verifyWebhook({ ...request, body: new TextEncoder().encode(JSON.stringify(event)) })).toEqual(expected);
  expect(await verifyWebhook({ ...request, headers: new Headers(request.headers as Record<string, string>) })).toEqual(
    expected,
  );
});

test.each([
  ["another body", { body: JSON.stringify({ ...event, type: "job.failed" }) }],
  ["another secret", { secret: "whsec_QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo=" }],
  ["an old one", { nowMs: 1_800_000_301_000 }],
  ["one from the future", { nowMs: 1_799_999_699_000 }],
  ["no headers", { headers: {} }],
])("refuses %s", async (_, change) => {
  await expect(verifyWebhook(signed(JSON.stringify(event), change))).rejects.toMatchObject({
    kind: "invalid_signature",
  });
});
