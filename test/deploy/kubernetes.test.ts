import { generateKeyPairSync } from 'node:crypto';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/actors/config/config.ts';
import { cleanUp, holdpoint, startDaemon, untilHeld } from '../cli/holdpoint.ts';
import { root, runCommand } from '../tooling/run-command.ts';
import { exampleFiles } from './example-files.ts';
import { faultOf, type Manifest, models, unknownIn } from './manifest-schemas.ts';
import { podFolder, textsIn } from './pod-folder.ts';
import { kustomized, rendered } from './sent-manifests.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');

const withSecret = [
  '--values',
  'deploy/kubernetes/values.yaml',
  '--set',
  'agent.existingConfigMap=',
];

let shared: Manifest[];
let single: Manifest[];
let installed: Manifest[];
let builtIn: Manifest[];
const of = (manifests: Manifest[], kind: string, name?: string) =>
  manifests.find((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
const secret = parse(read('deploy/kubernetes/secret.example.yaml'));

beforeAll(async () => {
  shared = await kustomized('deploy/kubernetes');
  single = await kustomized('deploy/kubernetes/sqlite');
  builtIn = await rendered(...withSecret, '--set', 'agent.writable={data}');
  installed = await rendered(
    ...withSecret,
    ...exampleFiles(),
    '--values',
    'deploy/dashboard/values.yaml',
    '--set',
    'daemon.enabled=true',
    '--set-file',
    'metrics.rules=deploy/prometheus/holdpoint.rules.yaml',
  );
}, 60_000);
afterAll(cleanUp);

const everyPod = (manifests: Manifest[]) =>
  manifests.flatMap((one) =>
    one.kind === 'Pod'
      ? [one.spec]
      : one.spec?.template === undefined
        ? []
        : [one.spec.template.spec],
  );

describe('the manifests and the chart', () => {
  it('are the same: the manifests and the table of values are its output', async () => {
    expect(await runCommand('npm', ['run', '--silent', 'manifests:check'])).toEqual({
      status: 0,
      stdout: '',
      stderr: '',
    });
  });

  it('fit the schemas and the types of Kubernetes', () => {
    const monitor = parse(read('deploy/kubernetes/service-monitor.yaml'));
    const all = [...shared, ...single, ...installed, ...builtIn, monitor, secret];
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(Object.keys(models)));
    expect(all.map((one) => faultOf(one)).filter((fault) => fault !== null)).toEqual([]);
    expect(unknownIn(all)).toBe('');
  });

  it('are refused with a wrong type, and with an unknown field', () => {
    const deployment = of(shared, 'Deployment');
    const wrong = { ...deployment, spec: { ...deployment.spec, replicas: '3' } };
    expect(faultOf(wrong)).toBe('data/spec/replicas must be integer');
    const misspelt = { ...deployment, spec: { ...deployment.spec, replica: 3 } };
    expect(unknownIn([misspelt])).toMatch(
      /^m0\.mts.*'"replica"' does not exist in type 'IDeploymentSpec'/,
    );
  });

  it('list every file, except optional ones', () => {
    for (const folder of ['deploy/kubernetes', 'deploy/kubernetes/sqlite']) {
      const { resources } = parse(read(`${folder}/kustomization.yaml`));
      const byHand = [
        'kustomization.yaml',
        'values.yaml',
        'secret.example.yaml',
        'service-monitor.yaml',
      ];
      const files = globSync('*.yaml', { cwd: join(root, folder) }).filter(
        (name) => !byHand.includes(name),
      );
      expect(resources.toSorted()).toEqual(files.toSorted());
    }
  });

  it('confine every container, and give no pod a right in the cluster', () => {
    for (const pod of everyPod([...shared, ...single, ...installed, ...builtIn])) {
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        enableServiceLinks: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 10001,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      });
      for (const { securityContext, resources } of [
        ...(pod.initContainers ?? []),
        ...pod.containers,
      ]) {
        expect(securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          capabilities: { drop: ['ALL'] },
        });
        expect(resources.limits.memory).toBeDefined();
      }
    }
  });

  it('mount each of their volumes, and define each mounted one', () => {
    for (const { kind, spec } of [...shared, ...single, ...installed, ...builtIn]) {
      if (spec?.template === undefined) continue;
      const { initContainers = [], containers, volumes } = spec.template.spec;
      const mounted = [...initContainers, ...containers].flatMap(
        (one: Manifest) => one.volumeMounts,
      );
      const claimed =
        kind === 'StatefulSet'
          ? spec.volumeClaimTemplates.map((one: Manifest) => one.metadata.name)
          : [];
      expect(new Set(mounted.map((one: Manifest) => one.name))).toEqual(
        new Set([...volumes.map((one: Manifest) => one.name), ...claimed]),
      );
    }
  });

  it('accept callers and the monitoring system, and nothing else', () => {
    const { spec } = of(shared, 'NetworkPolicy');
    const [{ from, ports }] = spec.ingress;
    expect(ports).toEqual([{ port: 'http' }]);
    const namespaces = from.map(
      (one: Manifest) => one.namespaceSelector?.matchLabels['kubernetes.io/metadata.name'],
    );
    expect(namespaces).toEqual(['ingress-nginx', 'monitoring', undefined]);
    expect(
      spec.egress.flatMap((one: Manifest) => one.ports.map(({ port }: Manifest) => port)),
    ).toEqual([53, 53, 'http', 443, 5432]);
    const policy = of(single, 'NetworkPolicy');
    expect(policy.spec.egress.at(-1).ports).toEqual([{ port: 443 }]);
  });
});

describe('the deployment', () => {
  it('has three daemons, which the service, the budget and the monitor select, and loses none in an upgrade', () => {
    const { spec } = of(shared, 'Deployment');
    const { labels } = spec.template.metadata;
    expect(spec.replicas).toBe(3);
    expect(spec.strategy.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 });
    const monitor = parse(read('deploy/kubernetes/service-monitor.yaml'));
    const selectors = [
      spec.selector.matchLabels,
      of(shared, 'Service').spec.selector,
      of(shared, 'PodDisruptionBudget').spec.selector.matchLabels,
    ];
    expect([...selectors, monitor.spec.selector.matchLabels]).toEqual(
      selectors.concat(labels).map(() => labels),
    );
    expect(of(shared, 'Service').metadata.labels).toEqual(labels);
  });

  it('probes /healthz for a restart and /readyz for traffic, and drains before it stops', () => {
    for (const [manifests, kind] of [
      [shared, 'Deployment'],
      [single, 'StatefulSet'],
    ] as const) {
      const pod = of(manifests, kind).spec.template.spec;
      const [{ startupProbe, livenessProbe, readinessProbe, lifecycle }] = pod.containers;
      expect(
        [startupProbe, livenessProbe, readinessProbe].map((probe) => probe.httpGet.path),
      ).toEqual(['/healthz', '/healthz', '/readyz']);
      expect(lifecycle.preStop).toEqual({ sleep: { seconds: 5 } });
      expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(40);
    }
  });

  it('passes each key of the secret as a variable, and the token of the metrics to the monitor', () => {
    const [{ env }] = of(shared, 'Deployment').spec.template.spec.containers;
    expect(env.map((one: Manifest) => [one.name, one.valueFrom.secretKeyRef])).toEqual(
      Object.keys(secret.stringData).map((key) => [key, { name: secret.metadata.name, key }]),
    );
    const [endpoint] = parse(read('deploy/kubernetes/service-monitor.yaml')).spec.endpoints;
    expect([endpoint.path, endpoint.relabelings, endpoint.authorization]).toEqual([
      '/metrics',
      [{ targetLabel: 'job', replacement: 'holdpoint' }],
      { type: 'Bearer', credentials: { name: 'refunds', key: 'SERVICE_METRICS_TOKEN' } },
    ]);
  });

  it('has a folder that the daemon cannot change, and one volume for its state', () => {
    const [{ volumeMounts }] = of(shared, 'Deployment').spec.template.spec.containers;
    expect(volumeMounts).toEqual([
      { name: 'agent', mountPath: '/agent', subPath: 'agent', readOnly: true },
      { name: 'state', mountPath: '/agent/.service', subPath: 'service' },
      { name: 'tmp', mountPath: '/tmp' },
    ]);
    const { spec } = of(single, 'StatefulSet');
    expect([
      spec.replicas,
      spec.volumeClaimTemplates.map((one: Manifest) => one.metadata.name),
    ]).toEqual([1, ['state']]);
  });

  it('mounts only state over a folder that is part of the image', () => {
    const { initContainers, containers, volumes } = of(builtIn, 'Deployment').spec.template.spec;
    expect(containers[0].volumeMounts).toEqual([
      { name: 'state', mountPath: '/agent/.service', subPath: 'service' },
      { name: 'state', mountPath: '/agent/data', subPath: 'writable/data' },
      { name: 'tmp', mountPath: '/tmp' },
    ]);
    expect(initContainers[0].command.at(-1)).toBe(
      'mkdir -p -m 0700 /state/service /state/writable/data\n',
    );
    expect(volumes.map((one: Manifest) => one.name)).toEqual(['tmp', 'state']);
  });

  it('has the folder in its name, so a changed one replaces the pods', () => {
    const map = of(shared, 'ConfigMap');
    expect(map.metadata.name).toMatch(/^refunds-\w+$/);
    for (const kind of ['Deployment', 'Job']) {
      const { volumes } = of(shared, kind).spec.template.spec;
      expect(volumes[0].configMap.name).toBe(map.metadata.name);
    }
  });

  it('passes the alerts of the repository unchanged', () => {
    const { groups } = parse(read('deploy/prometheus/holdpoint.rules.yaml'));
    expect(of(installed, 'PrometheusRule').spec.groups).toEqual(groups);
  });
});

describe('the folder of the agent', () => {
  const example = textsIn(join(root, 'deploy/agent'));

  it('is complete from an archive and from values, with its scripts', () => {
    const archived = podFolder(
      of(shared, 'Deployment').spec.template.spec,
      of(shared, 'ConfigMap'),
    );
    expect(textsIn(archived)).toEqual(example);
    for (const [name, kind] of [
      ['refunds', 'Deployment'],
      ['refunds-migrate', 'Job'],
    ] as const) {
      const folder = podFolder(
        of(installed, kind, name).spec.template.spec,
        of(installed, 'ConfigMap', name),
      );
      expect(textsIn(folder)).toEqual(example);
    }
    expect(Object.keys(example)).toContain('scripts/pay_refund.mjs');
  });

  it('is accepted by the daemon without a warning', () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const env = {
      ...secret.stringData,
      SERVICE_AUDIT_SIGNING_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    };
    const reading = parseConfig(example['service.yaml'] ?? '', { file: 'service.yaml', env });
    expect(reading).toMatchObject({ ok: true, warnings: [] });
    expect(reading.ok && reading.config.store.kind).toBe('postgres');
  });

  it('runs: a call of its script waits for a person', async () => {
    const folder = podFolder(of(shared, 'Deployment').spec.template.spec, of(shared, 'ConfigMap'));
    const settings = parse(example['service.yaml'] ?? '');
    const call = { tool: 'pay_refund', args: { order: '7', amount: '10' } };
    const local = {
      ...settings,
      model: { provider: 'scripted', script: [call] },
      store: { kind: 'sqlite' },
      channels: [],
      audit: {},
    };
    local.security.defer.tools.pay_refund.to = 'channel:console:*';
    writeFileSync(join(folder, 'service.yaml'), JSON.stringify(local));
    const env = {
      SERVICE_TOKEN: 'token-of-the-callers',
      SERVICE_METRICS_TOKEN: 'token-of-prometheus',
    };
    const daemon = await startDaemon(folder, { env });
    const sent = holdpoint(['task', 'send', 'pay order 7', '--id', 't1', '--dir', folder]);
    const held = await untilHeld(daemon, 't1');
    expect(held).toMatchObject({ status: { state: 'deferred' } });
    await daemon.stop();
    await sent;
  });
});
