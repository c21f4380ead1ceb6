import { expect, test } from "vitest";
import { newWebhookSecret, signatureHeaders } from "./sign-message.ts";

test("signs as the Standard Webhooks reference does", () => {
  const headers = signatureHeaders("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", {
    id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
    body: '{"test": 2432232314}',
    sentAtSeconds: 1614265330,
  });
  expect(headers).toEqual({
    "webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek",
    "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
  });
});

test("a secret has 32 random bytes", () => {
  expect(Buffer.from(newWebhookSecret().replace("whsec_", ""), "base64")).toHaveLength(32);
  expect(newWebhookSecret()).not.toBe(newWebhookSecret());
});
