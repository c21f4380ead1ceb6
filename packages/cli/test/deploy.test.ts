import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";

// No container engine is at hand where tests run: what the files refer to is held against what there is.
const root = join(import.meta.dirname, "..", "..", "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
const config = read("packages/server/src/config.ts");
const kubernetes = readdirSync(join(root, "deploy/kubernetes")).map((name) => `deploy/kubernetes/${name}`);
const files = ["deploy/Dockerfile", "deploy/compose.yaml", "deploy/systemd/emend.service", ...kubernetes];

test.each(files)("%s names only settings that exist", (file) => {
  const names = new Set(read(file).match(/EMEND_[A-Z_]+[A-Z]/g) ?? []);
  for (const name of names) expect(config, name).toContain(`"${name}"`);
});

test("the Dockerfile copies and runs what the build makes, as nobody special", () => {
  const text = read("deploy/Dockerfile");
  const scripts = JSON.parse(read("package.json")).scripts;
  for (const [, script = ""] of text.matchAll(/npm run (\S+)/g)) expect(scripts).toHaveProperty([script]);
  expect(text).toContain("/src/packages/cli/dist /opt/emend");
  expect(text).toContain('ENTRYPOINT ["node", "/opt/emend/bin/emend.cjs"]');
  expect(existsSync(join(root, "packages/cli/bin/emend.cjs"))).toBe(true);
  expect(text.match(/^USER (\w+)$/m)?.[1]).toBe("node");
  expect(text).toMatch(/^HEALTHCHECK /m);
  expect(text.match(/^EXPOSE (\d+)$/m)?.[1]).toBe(/"EMEND_PORT"\), .*?, (\d+),/.exec(config)?.[1]);
});

test("compose runs Postgres, two nodes for the interface and two workers, on one secret", () => {
  const { services, volumes } = parse(read("deploy/compose.yaml"), { merge: true });
  expect(services.postgres.image).toMatch(/^postgres:\d+$/);
  for (const role of ["api", "worker"]) {
    const service = services[role];
    expect(service.deploy.replicas).toBe(2);
    expect(service.environment).toMatchObject({ EMEND_ROLE: role, EMEND_SECRET: expect.stringContaining(":?") });
    expect(service.environment.EMEND_DATABASE_URL).toContain("@postgres:5432/");
    expect(existsSync(join(root, "deploy", service.build.context, service.build.dockerfile))).toBe(true);
    for (const mount of service.volumes) expect(volumes).toHaveProperty(mount.split(":")[0]);
  }
  expect(services.proxy.command).toContain("--to api:4600");
});

test("the Kubernetes manifests fit together", () => {
  const { resources } = parse(read("deploy/kubernetes/kustomization.yaml"));
  const objects = resources.flatMap((name: string) =>
    parseAllDocuments(read(`deploy/kubernetes/${name}`)).map((document) => {
      expect(document.errors).toEqual([]);
      return document.toJS();
    }),
  );
  const find = (kind: string, name: string) =>
    objects.find(
      (one: { kind: string; metadata: { name: string } }) => one.kind === kind && one.metadata.name === name,
    );
  for (const role of ["api", "worker"]) {
    const { replicas, selector, template } = find("Deployment", `emend-${role}`).spec;
    const [container] = template.spec.containers;
    expect(replicas).toBe(2);
    expect(template.metadata.labels).toEqual(selector.matchLabels);
    expect(container.env).toContainEqual({ name: "EMEND_ROLE", value: role });
    expect(find("ConfigMap", container.envFrom[0].configMapRef.name)).toBeDefined();
    expect(template.spec.securityContext.runAsNonRoot).toBe(true);
    const volumes = template.spec.volumes.map(({ name }: { name: string }) => name);
    for (const { name } of container.volumeMounts) expect(volumes).toContain(name);
  }
  const [api] = find("Deployment", "emend-api").spec.template.spec.containers;
  const health = read("packages/server/src/http/routes/health.ts");
  for (const probe of [api.readinessProbe, api.livenessProbe]) expect(health).toContain(`"${probe.httpGet.path}"`);
  expect(find("Service", "emend").spec.ports[0].targetPort).toBe(api.ports[0].name);
});

test("the unit starts the program and gives runs time to end", () => {
  const unit = read("deploy/systemd/emend.service");
  expect(unit).toMatch(/^ExecStart=\/usr\/bin\/env emend serve$/m);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(25);
  expect(unit).toMatch(/^NoNewPrivileges=yes$/m);
});
