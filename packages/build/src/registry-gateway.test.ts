import { mkdtemp, rm } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fetch } from "@emend/base/network.ts";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startRegistryGateway } from "./registry-gateway.ts";

let dir: string;
let asked: string[];
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-gateway-"));
  asked = [];
});
afterEach(() => rm(dir, { recursive: true }));

/** A registry that has everything, redirects `/moved`, and sends twice the limit for `/long`. */
const fetch: Fetch = async (url, { headers: sent }) => {
  asked.push(`${url} ${Object.keys(sent)}`);
  const headers = new Headers({ "content-type": "text/plain", location: "http://127.0.0.1/" });
  async function* body() {
    yield Buffer.from("a package");
    for (let part = 0; url.endsWith("/long") && part < 32; part += 1) yield Buffer.alloc(2 ** 16);
  }
  return { status: url.endsWith("/moved") ? 302 : 200, headers, body: body() };
};

async function ask(path: string, method = "GET"): Promise<string> {
  const socketPath = join(dir, "gateway.sock");
  const registry = "https://registry.example.com/npm/";
  const gateway = await startRegistryGateway({ fetch }, { socketPath, registry, bytesMax: 2 ** 20 });
  try {
    return await new Promise((resolve) => {
      const headers = { authorization: "Bearer abc", cookie: "a=b" };
      const sent = request({ socketPath, path, method, headers, agent: false }, (answer) => {
        let text = "";
        answer.on("data", (chunk) => {
          text += chunk;
        });
        answer.on("error", () => resolve("cut off"));
        answer.on("end", () => resolve(`${answer.statusCode} ${text}`));
      });
      sent.on("error", () => resolve("cut off"));
      sent.end();
    });
  } finally {
    await gateway.close();
  }
}

it("reads from one registry, without a credential", async () => {
  expect(await ask("/tiny")).toBe("200 a package");
  expect(asked).toEqual(["https://registry.example.com/npm/tiny accept"]);
});

it.each([
  ["/tiny", "POST"],
  ["/tiny", "PUT"],
  ["http://127.0.0.1/", "GET"],
  ["//127.0.0.1/", "GET"],
  ["/../other", "GET"],
])("refuses %s by %s", async (path, method) => {
  expect(await ask(path, method)).toBe("403 ");
  expect(asked).toEqual([]);
});

it("follows no redirect, and cuts off what is too long", async () => {
  expect(await ask("/moved")).toBe("502 ");
  expect(await ask("/long")).toBe("cut off");
});
