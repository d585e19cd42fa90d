import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PrometheusRule } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/PrometheusRule';
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor';
import { Deployment } from 'kubernetes-models/apps/v1/Deployment';
import { StatefulSet } from 'kubernetes-models/apps/v1/StatefulSet';
import { Job } from 'kubernetes-models/batch/v1/Job';
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress';
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget';
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap';
import { PersistentVolumeClaim } from 'kubernetes-models/v1/PersistentVolumeClaim';
import { Pod } from 'kubernetes-models/v1/Pod';
import { Secret } from 'kubernetes-models/v1/Secret';
import { Service } from 'kubernetes-models/v1/Service';
import { ServiceAccount } from 'kubernetes-models/v1/ServiceAccount';
import { onTestFinished } from 'vitest';
import { root } from '../tooling/run-command.ts';

/** The kinds of manifests, with the schemas of Kubernetes. */
export const models = {
  ConfigMap,
  Deployment,
  Ingress,
  Job,
  NetworkPolicy,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  PrometheusRule,
  Secret,
  Service,
  ServiceAccount,
  ServiceMonitor,
  StatefulSet,
};

// biome-ignore lint/suspicious/noExplicitAny: a manifest of any kind, which its schema and its type check
export type Manifest = any;

/** Returns what the schemas of Kubernetes refuse in a manifest; `null` for a good one. */
export function faultOf(manifest: Manifest): string | null {
  const Model = models[manifest.kind as keyof typeof models] as unknown as new (
    data: object,
  ) => { validate(): void };
  try {
    new Model(manifest).validate();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

/** Returns what the types of Kubernetes refuse in manifests: unlike the schemas, fields that do not exist. */
export function unknownIn(manifests: readonly Manifest[]): string {
  const cache = join(root, 'node_modules/.cache/holdpoint-test');
  mkdirSync(cache, { recursive: true });
  const directory = mkdtempSync(join(cache, 'manifests-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const names = manifests.map((manifest, index) => {
    const name = join(directory, `m${index}.mts`);
    const { apiVersion, kind } = manifest;
    const home = ['PrometheusRule', 'ServiceMonitor'].includes(kind)
      ? '@kubernetes-models/prometheus-operator'
      : 'kubernetes-models';
    const type = `import('${home}/${apiVersion}/${kind}').I${kind}`;
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
