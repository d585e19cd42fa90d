import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { root, runCommand } from '../tooling/run-command.ts';

const read = (file: string) => readFileSync(join(root, file), 'utf8');
const text = read('deploy/compose.yaml');

interface Service {
  image?: string;
  build?: { dockerfile_inline: string };
  environment: Record<string, string>;
  ports?: string[];
  volumes: string[];
  network_mode?: string;
}

const { services, configs } = parse(text) as {
  services: Record<string, Service>;
  configs: { targets: { content: string } };
};

describe('the file for Docker Compose', () => {
  it('fits the schema of Compose, and has no linter error', async () => {
    const linted = await runCommand('dclint', ['--quiet', 'deploy/compose.yaml']);
    expect(linted).toMatchObject({ status: 0, stderr: '' });
  });

  it('publishes ports on this machine only, of images with a fixed version', () => {
    const ports = Object.values(services).flatMap((one) => one.ports ?? []);
    expect(ports.filter((port) => !port.startsWith('127.0.0.1:'))).toEqual([]);
    for (const { image, build } of Object.values(services)) {
      expect(image ?? build?.dockerfile_inline).toMatch(
        /:v?\d+\.\d+(?:\.\d+)?$|^FROM holdpoint:\d+\.\d+\.\d+\n/,
      );
    }
  });

  it('mounts existing files, and no folder of the host that a container may write to', () => {
    const mounted = Object.values(services).flatMap(({ volumes }) => volumes);
    const bound = mounted.filter((one) => one.startsWith('.')).map((one) => one.split(':'));
    expect(bound.length).toBeGreaterThan(3);
    for (const [source = '', , mode] of bound) {
      expect([source, existsSync(join(root, 'deploy', source)), mode]).toEqual([
        source,
        true,
        'ro',
      ]);
    }
  });

  it('passes the agent each secret of the example, and refuses to start without one', () => {
    const secret = parse(read('deploy/kubernetes/secret.example.yaml')) as {
      stringData: Record<string, string>;
    };
    const variables = Object.keys(services['agent']?.environment ?? {});
    expect(variables).toEqual(Object.keys(secret.stringData));
    const used = [...text.matchAll(/\$\{(\w+)([^}]*)\}/g)];
    expect(used.filter(([, , rest]) => rest !== ':?set it in .env')).toEqual([]);
    const given = [...text.matchAll(/environment: (\w+)/g)];
    const page = read('docs/deploy.md');
    const names = [...used, ...given].map(([, name = '']) => name);
    expect(names.filter((name) => !page.includes(name))).toEqual([]);
  });

  it('scrapes the agent by its name, with the token of a file, and Grafana reads Prometheus', () => {
    const { scrape_configs: jobs } = parse(read('deploy/prometheus/prometheus.yml')) as {
      scrape_configs: {
        authorization: { credentials_file: string };
        file_sd_configs: { files: string[] }[];
      }[];
    };
    const [targets = ''] = jobs[0]?.file_sd_configs[0]?.files ?? [];
    expect(existsSync(join(root, 'deploy/prometheus', targets))).toBe(true);
    expect(text).toContain(`target: /etc/prometheus/${targets}}`);
    expect(parse(configs.targets.content)).toEqual([{ targets: ['agent:8080'] }]);
    expect(text).toContain(`target: ${jobs[0]?.authorization.credentials_file}}`);
    expect(read('deploy/grafana/provisioning/datasources/prometheus.yaml')).toContain(
      'url: http://localhost:9090\n',
    );
  });

  it('lets the agent be replaced alone: no other service uses its network', () => {
    const shared = Object.entries(services).map(([name, one]) => [name, one.network_mode]);
    expect(shared.filter(([, mode]) => mode !== undefined)).toEqual([
      ['grafana', 'service:prometheus'],
    ]);
  });
});
