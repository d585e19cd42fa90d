import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { parseConfig } from '../../src/actors/config/config.ts';

const root = join(import.meta.dirname, '../..');
const folder = 'deploy/kubernetes';
const files = globSync(`${folder}/*.yaml`, { cwd: root }).toSorted();

const models = { ConfigMap, Deployment, PodDisruptionBudget, Secret, Service };

interface Manifest {
  apiVersion: string;
  kind: keyof typeof models;
}

function read<Model extends Manifest>(file: string): Model {
  return parse(readFileSync(join(root, file), 'utf8')) as Model;
}

/** What the schemas of Kubernetes say of a manifest; `null` when nothing is wrong. */
function faultOf(manifest: Manifest): string | null {
  const Model = models[manifest.kind] as unknown as new (data: object) => { validate(): void };
  try {
    new Model(manifest).validate();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** What the types of Kubernetes say of a manifest, which unlike its schemas know no other fields. */
function unknownIn(manifests: readonly Manifest[]): string {
  const cache = join(root, 'node_modules/.cache/holdpoint-test');
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'manifests-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const names = manifests.map((manifest, index) => {
    const name = join(directory, `m${index}.mts`);
    const { apiVersion, kind } = manifest;
    const type = `import('kubernetes-models/${apiVersion}/${kind}').I${kind}`;
    writeFileSync(name, `export const it = ${JSON.stringify(manifest)} satisfies ${type};\n`);
    return name;
  });
  const flags = ['--noEmit', '--strict', '--skipLibCheck', '--ignoreConfig'];
  const compiler = join(root, 'node_modules/.bin/tsc');
  const run = spawnSync(compiler, [...flags, '--module', 'nodenext', ...names], {
    encoding: 'utf8',
  });
  return `${run.stdout}${run.stderr}`.replaceAll(/^.*\/(?=m\d)/gm, '').trim();
}

const deployment = read<InstanceType<typeof Deployment> & Manifest>(`${folder}/deployment.yaml`);
const pod = deployment.spec?.template.spec;
const [container] = pod?.containers ?? [];
const labels = deployment.spec?.template.metadata?.labels;
const secret = read<InstanceType<typeof Secret> & Manifest>(`${folder}/secret.example.yaml`);
const configMap = read<InstanceType<typeof ConfigMap> & Manifest>(`${folder}/config-map.yaml`);

describe('the manifests for Kubernetes', () => {
  it('are these', () => {
    expect(files.map((file) => [file, read(file).kind])).toEqual([
      [`${folder}/config-map.yaml`, 'ConfigMap'],
      [`${folder}/deployment.yaml`, 'Deployment'],
      [`${folder}/pod-disruption-budget.yaml`, 'PodDisruptionBudget'],
      [`${folder}/secret.example.yaml`, 'Secret'],
      [`${folder}/service.yaml`, 'Service'],
    ]);
  });

  it.each(files)('fit the schemas of Kubernetes: %s', (file) => {
    expect(faultOf(read(file))).toBeNull();
  });

  it('have no field that Kubernetes does not know', () => {
    expect(unknownIn(files.map((file) => read(file)))).toBe('');
  });

  it('would be refused with a wrong type, and with a field that does not exist', () => {
    const { spec } = deployment;
    const wrong = { ...deployment, spec: { ...spec, replicas: '3' } } as unknown as Manifest;
    expect(faultOf(wrong)).toBe('data/spec/replicas must be integer');
    const misspelt = { ...deployment, spec: { ...spec, replica: 3 } } as unknown as Manifest;
    expect(unknownIn([misspelt])).toMatch(
      /^m0\.mts.*'"replica"' does not exist in type 'IDeploymentSpec'/,
    );
  });
});

describe('the deployment', () => {
  it('has three daemons, which the service and the budget find', () => {
    const service = read<InstanceType<typeof Service> & Manifest>(`${folder}/service.yaml`);
    const budget = read<InstanceType<typeof PodDisruptionBudget> & Manifest>(
      `${folder}/pod-disruption-budget.yaml`,
    );
    expect(deployment.spec?.replicas).toBe(3);
    expect(deployment.spec?.selector.matchLabels).toEqual(labels);
    expect(service.spec?.selector).toEqual(labels);
    expect(budget.spec?.selector?.matchLabels).toEqual(labels);
    const ports = container?.ports?.map(({ name }) => name);
    expect(service.spec?.ports?.map(({ targetPort }) => targetPort)).toEqual(ports);
  });

  it('asks whether a daemon lives at /healthz, and whether it takes work at /readyz', () => {
    const { startupProbe, livenessProbe, readinessProbe } = container ?? {};
    const asked = [startupProbe, livenessProbe, readinessProbe].map((probe) => probe?.httpGet);
    expect(asked).toEqual([
      { path: '/healthz', port: 'http' },
      { path: '/healthz', port: 'http' },
      { path: '/readyz', port: 'http' },
    ]);
  });

  it('takes every variable from a key that the secret has, and uses each', () => {
    const taken = container?.env?.flatMap(({ name, valueFrom }) =>
      valueFrom === undefined ? [] : [[name, valueFrom.secretKeyRef]],
    );
    const { name } = secret.metadata ?? {};
    const keys = Object.keys(secret.stringData ?? {});
    expect(taken).toEqual(keys.map((key) => [key, { name, key }]));
  });

  it('keeps nothing in a pod, and mounts what it names', () => {
    const volumes = pod?.volumes ?? [];
    expect(volumes).toEqual([
      { name: 'config', configMap: { name: configMap.metadata?.name } },
      { name: 'agent', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
    ]);
    const containers = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
    const mounted = containers.flatMap(({ volumeMounts = [] }) => volumeMounts);
    expect(new Set(mounted.map(({ name }) => name))).toEqual(new Set(['config', 'agent', 'tmp']));
  });

  it('may do nothing on its node', () => {
    const containers = [...(pod?.initContainers ?? []), ...(pod?.containers ?? [])];
    const confined = {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    };
    expect(containers.map(({ securityContext }) => securityContext)).toEqual([confined, confined]);
    expect(pod?.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
  });

  it('has a configuration that the daemon takes without a warning', () => {
    const { privateKey } = generateKeyPairSync('ed25519');
    const env = {
      ...secret.stringData,
      SERVICE_AUDIT_SIGNING_KEY: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    };
    const text = configMap.data?.['service.yaml'] ?? '';
    const reading = parseConfig(text, { file: 'service.yaml', env });
    expect(reading).toMatchObject({ ok: true, warnings: [] });
    expect(reading.ok && reading.config.store.kind).toBe('postgres');
  });
});
