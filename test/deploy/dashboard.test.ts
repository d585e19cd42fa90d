import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { isPageOrigin, readDashboard } from '../../src/actors/config/config.ts';
import { temporaryFolder } from '../helpers/test-system.ts';
import { faultOf } from './manifest-schemas.ts';

const folder = join(import.meta.dirname, '../../deploy/dashboard');
const text = (file: string) => readFileSync(join(folder, file), 'utf8');
const env = { DASHBOARD_CLIENT_SECRET: 'a-secret' };
const url = 'https://ops.example.com';

const manifests = globSync('kubernetes/*.yaml', { cwd: folder }).flatMap((file) =>
  parseAllDocuments(text(file)).map((one) => one.toJS()),
);
const of = (kind: string) => manifests.find((one) => one.kind === kind);

function reading(file: string, content: string) {
  const workspace = temporaryFolder();
  writeFileSync(join(workspace, file), content);
  return readDashboard(workspace, env);
}

describe('the samples for a dashboard behind a proxy', () => {
  it('have a dashboard.yaml that the command accepts without a warning', () => {
    for (const content of [text('dashboard.yaml'), of('ConfigMap').data['dashboard.yaml']]) {
      const read = reading('dashboard.yaml', content);
      expect(read).toMatchObject({ problems: [], warnings: [] });
      expect(read?.settings?.operators).toEqual(['group:platform']);
    }
  });

  it('have one public address, which the proxies forward', () => {
    expect(isPageOrigin(url)).toBe(true);
    const unit = text('holdpoint-dashboard.service');
    expect(unit).toContain(`--public-url ${url}\n`);
    const [container] = of('Deployment').spec.template.spec.containers;
    expect(container.args.at(-1)).toBe(url);
    const { host } = new URL(url);
    for (const probe of ['startupProbe', 'readinessProbe', 'livenessProbe']) {
      expect(container[probe].httpGet.httpHeaders).toEqual([{ name: 'Host', value: host }]);
    }
    expect(of('Ingress').spec.rules[0].host).toBe(host);
    expect(of('Ingress').spec.tls[0].hosts).toEqual([host]);
    expect(text('nginx.conf')).toContain('proxy_set_header Host $host;');
    expect(text('nginx.conf')).toContain('proxy_buffering off;');
    expect(text('Caddyfile')).toContain(`${host} {`);
  });

  it('fit the schemas of Kubernetes', () => {
    const kinds = [
      'ConfigMap',
      'Deployment',
      'Ingress',
      'NetworkPolicy',
      'PersistentVolumeClaim',
      'Service',
      'ServiceAccount',
    ];
    expect(new Set(manifests.map(({ kind }) => kind))).toEqual(new Set(kinds));
    expect(manifests.map((one) => faultOf(one)).filter((fault) => fault !== null)).toEqual([]);
  });

  it('run one process with its variable and its volumes', () => {
    const { replicas, template } = of('Deployment').spec;
    expect(replicas).toBe(1);
    const [{ volumeMounts }] = template.spec.containers;
    const names = new Set(volumeMounts.map(({ name }: { name: string }) => name));
    expect(names).toEqual(new Set(template.spec.volumes.map(({ name }: { name: string }) => name)));
    expect(of('Service').spec.selector).toEqual(template.metadata.labels);
  });
});
