import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { Ajv } from "ajv";
import { Deployment } from "kubernetes-models/apps/v1/Deployment";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1/Ingress";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1/PodDisruptionBudget";
import { ConfigMap } from "kubernetes-models/v1/ConfigMap";
import { Namespace } from "kubernetes-models/v1/Namespace";
import { Service } from "kubernetes-models/v1/Service";
import { expect, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { loadConfig } from "../../server/src/config/config.ts";
import { serverSettings } from "./support/setting-names.ts";

// The tests have no container engine: they check that everything the files refer to exists.
const root = join(import.meta.dirname, "..", "..", "..");
const read = (path: string) => readFileSync(join(root, path), "utf8");
/** The time to release active runs and to stop. */
const stopSeconds = 30;
const kubernetes = readdirSync(join(root, "deploy/kubernetes"), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map(({ parentPath, name }) => relative(root, join(parentPath, name)));
const proxies = ["deploy/proxy/nginx.conf", "deploy/proxy/cells.conf", "deploy/proxy/Caddyfile"];
const single = ["deploy/Dockerfile", "deploy/compose.yaml", "deploy/systemd/emend.service", "deploy/cluster/emend.env"];
const files = [...single, ...proxies, ...kubernetes];

const known = serverSettings();

test.each(files)("%s names only settings that exist", (file) => {
  const names = new Set(read(file).match(/EMEND_[A-Z_]+[A-Z]/g) ?? []);
  for (const name of names) expect(known).toContain(name);
});

test("the Dockerfile copies and runs what the build makes, as an unprivileged user", () => {
  const text = read("deploy/Dockerfile");
  const scripts = JSON.parse(read("package.json")).scripts;
  for (const [, script = ""] of text.matchAll(/npm run (\S+)/g)) expect(scripts).toHaveProperty([script]);
  expect(text).toContain("/src/packages/cli/dist /opt/emend");
  expect(text).toContain("RUN ln -s /opt/emend/bin/emend.cjs /usr/local/bin/emend");
  expect(text).toContain('ENTRYPOINT ["emend"]');
  expect(existsSync(join(root, "packages/cli/bin/emend.cjs"))).toBe(true);
  expect(text.match(/^USER (\w+)$/m)?.[1]).toBe("node");
  expect(text).toMatch(/^HEALTHCHECK /m);
  expect(text.match(/^EXPOSE (\d+)$/m)?.[1]).toBe(String(loadConfig({}).port));
  // Every volume mounted below must have an owner in the image who may write to it.
  const owned = /install -d -o node -g node -m 0700 (.*)$/m.exec(text)?.[1]?.split(" ") ?? [];
  const { services } = parse(read("deploy/compose.yaml"), { merge: true });
  const mounted = ["api", "worker"].flatMap((role) =>
    services[role].volumes.map((mount: string) => mount.split(":")[1]),
  );
  for (const path of mounted) expect(owned).toContain(path);
  expect(owned).toContain(/^VOLUME (.*)$/m.exec(text)?.[1]);
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
    expect(Number.parseInt(service.stop_grace_period, 10)).toBeGreaterThan(stopSeconds);
    expect(service.depends_on.postgres.condition).toBe("service_healthy");
    expect(settingsOf(service.environment).role).toBe(role);
  }
  expect(services.worker.healthcheck.test.join(" ")).toContain(
    `:${services.worker.environment.EMEND_METRICS_PORT}/healthz`,
  );
  expect(services.proxy.command).toContain("--to api:4600");
});

test("the Kubernetes manifests fit together", () => {
  const { resources, secretGenerator, images } = parse(read("deploy/kubernetes/kustomization.yaml"));
  const secretNames = secretGenerator.map(({ name }: { name: string }) => name);
  expect(resources[0], "what the others are put into").toBe("namespace.yaml");
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
    expect(template.spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, fsGroup: 1000 });
    expect(container.securityContext).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    const writable = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
    expect(writable.toSorted()).toEqual(["/tmp", "/var/lib/emend"]);
    const preStop = Number(container.lifecycle?.preStop.exec.command[1] ?? 0);
    expect(template.spec.terminationGracePeriodSeconds).toBeGreaterThan(stopSeconds + preStop);
    // The Service's own variables would override the image's EMEND_PORT.
    expect(template.spec.enableServiceLinks).toBe(false);
    const secret = { ...envFile("secret.env.example"), EMEND_SECRET: "x".repeat(32) };
    expect(images[0].name).toBe(container.image);
    const refs = container.envFrom.flatMap((one: { secretRef?: { name: string } }) => one.secretRef?.name ?? []);
    expect(refs).toEqual(role === "worker" ? secretNames : ["emend"]);
    const own = Object.fromEntries(
      container.env.map(({ name, value }: { name: string; value: string }) => [name, value]),
    );
    const config = settingsOf({ ...find("ConfigMap", "emend").data, ...secret, ...own });
    expect(config.role).toBe(role);
    const portOf = { http: config.port, metrics: config.metricsPort } as Record<string, number | null>;
    const ports = Object.fromEntries(
      container.ports.map((one: { name: string; containerPort: number }) => [one.name, one.containerPort]),
    );
    for (const probe of [container.startupProbe, container.livenessProbe]) {
      expect(ports[probe.httpGet.port]).toBe(portOf[probe.httpGet.port]);
    }
    const volumes = template.spec.volumes.map(({ name }: { name: string }) => name);
    for (const { name } of container.volumeMounts) expect(volumes).toContain(name);
  }
  for (const role of ["api", "worker"])
    expect(find("PodDisruptionBudget", `emend-${role}`).spec.selector).toEqual(
      find("Deployment", `emend-${role}`).spec.selector,
    );
  const [api] = find("Deployment", "emend-api").spec.template.spec.containers;
  const health = read("packages/server/src/http/app.ts");
  for (const probe of [api.startupProbe, api.readinessProbe, api.livenessProbe])
    expect(health).toContain(`"${probe.httpGet.path}"`);
  const service = find("Service", "emend");
  expect(service.spec.ports[0].targetPort).toBe(api.ports[0].name);
  const [rule] = find("Ingress", "emend").spec.rules;
  expect(rule.http.paths[0].backend.service).toEqual({ name: "emend", port: { name: service.spec.ports[0].name } });
  expect(new URL(find("ConfigMap", "emend").data.EMEND_PUBLIC_URL).host).toBe(rule.host);
  for (const { envs } of secretGenerator)
    expect(existsSync(join(root, `deploy/kubernetes/${envs[0]}.example`))).toBe(true);
  expect(read(".gitignore")).toContain("deploy/kubernetes/*.env");
});

function envFile(name: string): Record<string, string> {
  const lines = read(`deploy/kubernetes/${name}`).match(/^\w+=.*$/gm) ?? [];
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]));
}

// The schemas that kubernetes-models generates from Kubernetes' own OpenAPI description.
test.each([
  ["namespace.yaml", [Namespace]],
  ["config.yaml", [ConfigMap]],
  ["api.yaml", [Deployment, Service, PodDisruptionBudget]],
  ["worker.yaml", [Deployment, PodDisruptionBudget]],
  ["ingress.yaml", [Ingress]],
] as const)("%s is what Kubernetes takes", (file, models) => {
  const objects = parseAllDocuments(read(`deploy/kubernetes/${file}`)).map((document) => document.toJS());
  expect(objects.length).toBe(models.length);
  for (const [index, Model] of models.entries()) {
    const model = new Model(objects[index]);
    expect(model.toJSON(), "no other kind").toMatchObject({
      kind: objects[index].kind,
      apiVersion: objects[index].apiVersion,
    });
    model.validate();
    expect(() => new Model({ ...objects[index], metadata: 1 }).validate()).toThrow();
  }
});

const text = { type: "string" };
const texts = { type: "array", items: text };
const exactly = (properties: object) => ({ type: "object", properties, additionalProperties: false });
/**
 * The part of schema/compose-spec.json that compose.yaml uses. From github.com/compose-spec/compose-spec, commit
 * 00655e2222608fa6, read on 2026-11-16. Anything missing here is unknown there or unused here.
 */
const composeService = exactly({
  build: exactly({ context: text, dockerfile: text }),
  command: { type: ["string", "array"] },
  depends_on: {
    oneOf: [
      texts,
      {
        type: "object",
        additionalProperties: exactly({
          condition: { enum: ["service_started", "service_healthy", "service_completed_successfully"] },
        }),
      },
    ],
  },
  deploy: exactly({ replicas: { type: ["integer", "string"] } }),
  environment: { type: "object", additionalProperties: { type: ["string", "number", "boolean", "null"] } },
  healthcheck: exactly({
    test: { type: ["string", "array"] },
    interval: text,
    timeout: text,
    retries: { type: ["number", "string"] },
    start_period: text,
  }),
  image: text,
  ports: { type: "array", items: { type: ["number", "string"] } },
  restart: text,
  stop_grace_period: text,
  volumes: texts,
});

test("compose.yaml is what Compose takes", () => {
  const check = new Ajv({ allowUnionTypes: true }).compile({
    type: "object",
    properties: {
      name: text,
      services: { type: "object", additionalProperties: composeService },
      volumes: { type: "object", additionalProperties: { type: "null" } },
    },
    patternProperties: { "^x-": {} },
    additionalProperties: false,
  });
  const file = parse(read("deploy/compose.yaml"), { merge: true });
  check(file);
  expect(check.errors).toBeNull();
  expect(check({ ...file, services: { api: { ...file.services.api, replicas: 2 } } })).toBe(false);
});

const whole = (minimum: number) => ({ type: "integer", minimum });
const policies = exactly({
  stabilizationWindowSeconds: whole(0),
  policies: {
    type: "array",
    items: {
      ...exactly({ type: { enum: ["Percent", "Pods"] }, value: whole(1), periodSeconds: whole(1) }),
      required: ["periodSeconds", "type", "value"],
    },
  },
});
/**
 * The part of config/crd/bases/keda.sh_scaledobjects.yaml that scaled-object.yaml uses. From github.com/kedacore/keda,
 * commit 8b4f083ca, read on 2026-11-18. Anything missing here is unknown there or unused here.
 */
const scaledObject = {
  ...exactly({
    apiVersion: { const: "keda.sh/v1alpha1" },
    kind: { const: "ScaledObject" },
    metadata: exactly({ name: text }),
    spec: {
      ...exactly({
        scaleTargetRef: { ...exactly({ name: { type: "string", minLength: 1 } }), required: ["name"] },
        minReplicaCount: whole(0),
        maxReplicaCount: whole(1),
        pollingInterval: whole(1),
        fallback: {
          ...exactly({ failureThreshold: whole(0), replicas: whole(0) }),
          required: ["failureThreshold", "replicas"],
        },
        advanced: exactly({
          horizontalPodAutoscalerConfig: exactly({ behavior: exactly({ scaleDown: policies, scaleUp: policies }) }),
        }),
        triggers: {
          type: "array",
          minItems: 1,
          items: {
            ...exactly({
              type: text,
              metricType: { enum: ["AverageValue", "Value", "Utilization"] },
              metadata: { type: "object", additionalProperties: text },
            }),
            required: ["metadata", "type"],
          },
        },
      }),
      required: ["scaleTargetRef", "triggers"],
    },
  }),
  required: ["apiVersion", "kind", "metadata", "spec"],
};

test("the workers' autoscaling is what KEDA takes, and follows metrics that exist", () => {
  const check = new Ajv().compile(scaledObject);
  const object = parse(read("deploy/kubernetes/autoscaling/scaled-object.yaml"));
  check(object);
  expect(check.errors).toBeNull();
  expect(check({ ...object, spec: { ...object.spec, minReplicas: 2 } })).toBe(false);
  const { spec } = object;
  const worker = parseAllDocuments(read("deploy/kubernetes/worker.yaml"))[0]?.toJS();
  expect(spec.scaleTargetRef.name).toBe(worker.metadata.name);
  expect(spec.minReplicaCount).toBe(worker.spec.replicas);
  const { query, threshold } = spec.triggers[0].metadata;
  const measured = read("packages/server/src/metrics/measure.ts");
  for (const name of query.match(/emend_\w+/g)) expect(measured).toContain(`"${name}"`);
  // Fewer jobs than a worker has slots, or a worker would be added too late.
  expect(Number(threshold)).toBeLessThan(loadConfig({}).concurrency);
  const { namespace } = parse(read("deploy/kubernetes/kustomization.yaml"));
  expect(query).toContain(`namespace="${namespace}"`);
  const port = worker.spec.template.spec.containers[0].ports[0].containerPort;
  expect(worker.spec.template.metadata.annotations["prometheus.io/port"]).toBe(String(port));
  const folder = parse(read("deploy/kubernetes/autoscaling/kustomization.yaml"));
  expect(folder).toMatchObject({ namespace, resources: ["..", "scaled-object.yaml"] });
  // A number of replicas beside it would be set again by every apply.
  expect(folder.patches[0].target.name).toBe(worker.metadata.name);
  expect(parse(folder.patches[0].patch)).toEqual([{ op: "remove", path: "/spec/replicas" }]);
});

/** Parses them as the process would. Throws if a setting is invalid. */
function settingsOf(environment: Record<string, string>) {
  const real = Object.entries(environment).map(([name, value]) => [
    name,
    value.replaceAll(/\$\{(\w+)(?::-([^}]*)|:\?[^}]*)?\}/g, (_, _name, fallback) => fallback ?? "x".repeat(32)),
  ]);
  const config = loadConfig({ ...Object.fromEntries(real), EMEND_DATA_DIR: undefined, EMEND_FORGE_DIR: undefined });
  expect(config.unknownSettings).toEqual([]);
  return config;
}

test("the proxies' samples let a push through, pass events on at once and tell the client's own address", () => {
  const nginx = read("deploy/proxy/nginx.conf");
  for (const line of [
    "client_max_body_size 2g",
    "proxy_buffering off",
    "proxy_set_header X-Forwarded-For $remote_addr",
  ]) {
    expect(nginx).toContain(`${line};`);
  }
  const [, waits = ""] = /proxy_read_timeout (\d+)s;/.exec(nginx) ?? [];
  expect(Number(waits)).toBeGreaterThan(55);
  const { port } = loadConfig({});
  for (const sample of [nginx, read("deploy/proxy/Caddyfile")]) {
    expect(sample).toContain(`127.0.0.1:${port}`);
    const settings = settingsOf(
      Object.fromEntries(sample.match(/EMEND_\w+=\S+/g)?.map((line) => line.split("=")) ?? []),
    );
    expect(settings).toMatchObject({ publicUrl: "https://emend.example.com", trustProxy: "127.0.0.1" });
  }
});

test("the unit starts the program and gives runs time to end", () => {
  const unit = read("deploy/systemd/emend.service");
  expect(unit).toMatch(/^ExecStart=\/usr\/bin\/env emend serve$/m);
  expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(stopSeconds);
  // Emend stops Postgres, a child of the embedded default. The signal that stops Emend must not.
  expect(unit).toMatch(/^KillMode=mixed$/m);
  expect(unit).toMatch(/^RestartPreventExitStatus=2$/m);
  const [, user] = /^User=(\w+)$/m.exec(unit) ?? [];
  expect(unit).toMatch(new RegExp(`^# useradd .* ${user}$`, "m"));
  expect(unit).toMatch(/^StateDirectory=emend$/m);
  expect(unit).toMatch(/^Environment=EMEND_DATA_DIR=\/var\/lib\/emend$/m);
  expect(unit).toMatch(/^NoNewPrivileges=yes$/m);
});
