import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";
import { newWebhookSecret, signatureHeaders } from "./post-message.ts";

test("signs as the Standard Webhooks reference does", () => {
  const headers = signatureHeaders(["whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"], {
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

test("while a secret is changed, receivers with either one accept a message", () => {
  const [old, fresh] = [newWebhookSecret(), newWebhookSecret()];
  const headers = signatureHeaders([fresh, old], { id: "m", body: "{}", sentAtSeconds: Math.floor(Date.now() / 1000) });
  for (const secret of [old, fresh]) expect(new Webhook(secret).verify("{}", headers)).toEqual({});
});

test("a secret has 32 random bytes", () => {
  expect(Buffer.from(newWebhookSecret().replace("whsec_", ""), "base64")).toHaveLength(32);
  expect(newWebhookSecret()).not.toBe(newWebhookSecret());
});

test("the standard's own library takes what we sign, and signs the same", () => {
  const secret = newWebhookSecret();
  const body = '{"type":"job.completed","title":"Über 🎈"}';
  const sentAtSeconds = Math.floor(Date.now() / 1000);
  const headers = signatureHeaders([secret], { id: "msg_1", body, sentAtSeconds });
  const library = new Webhook(secret);
  expect(library.verify(body, headers)).toEqual(JSON.parse(body));
  expect(headers["webhook-signature"]).toBe(library.sign("msg_1", new Date(sentAtSeconds * 1000), body));
  expect(() => library.verify(body.replace("completed", "failed"), headers)).toThrow();
  expect(() => new Webhook(newWebhookSecret()).verify(body, headers)).toThrow();
});
