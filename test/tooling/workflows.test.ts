import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { root } from './run-command.ts';

interface Workflow {
  on: Record<string, unknown>;
  permissions: Record<string, string>;
  jobs: Record<
    string,
    {
      permissions?: Record<string, string>;
      environment?: string;
      needs?: string;
      'timeout-minutes': number;
      steps: { uses?: string; run?: string; with?: Record<string, unknown> }[];
    }
  >;
}

const folder = join(root, '.github/workflows');
const files = readdirSync(folder).map((name) => {
  const text = readFileSync(join(folder, name), 'utf8');
  return { name, text, workflow: parse(text) as Workflow };
});
const jobs = files.flatMap(({ name, workflow }) =>
  Object.entries(workflow.jobs).map(([job, value]) => ({ job: `${name} ${job}`, ...value })),
);

describe('the workflows', () => {
  it('use actions at one commit, named by its release', () => {
    const used = files.flatMap(({ text }) => text.match(/^.*uses:.*$/gm) ?? []);
    expect(used.length).toBeGreaterThan(4);
    const loose = used.filter(
      (line) => !/uses: actions\/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(line),
    );
    expect(loose).toEqual([]);
  });

  it('have only read rights, except for the jobs that publish after an approval', () => {
    expect(files.map(({ workflow }) => workflow.permissions)).toEqual([
      { contents: 'read' },
      { contents: 'read' },
      {},
    ]);
    const more = jobs.filter(({ permissions = {} }) =>
      Object.values(permissions).some((right) => right === 'write'),
    );
    expect(
      more.map(({ job, permissions, environment }) => ({ job, permissions, environment })),
    ).toEqual([
      {
        job: 'release.yml publish',
        permissions: { contents: 'read', 'id-token': 'write' },
        environment: 'npm',
      },
      {
        job: 'release.yml image',
        permissions: {
          contents: 'read',
          packages: 'write',
          'id-token': 'write',
          attestations: 'write',
        },
        environment: undefined,
      },
      {
        job: 'release.yml release',
        permissions: { contents: 'write', 'id-token': 'write', attestations: 'write' },
        environment: undefined,
      },
    ]);
    for (const name of ['release.yml image', 'release.yml release']) {
      expect(jobs.find(({ job }) => job === name)?.needs).toBe('publish');
    }
  });

  it('contain no secret, trust no text of a stranger, and have a time limit', () => {
    for (const { text, workflow } of files) {
      expect(text).not.toMatch(/secrets\.|\$\{\{\s*github\.(?:event|head_ref)/);
      expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    }
    expect(jobs.filter((job) => !(job['timeout-minutes'] <= 40))).toEqual([]);
  });

  it('publish the tested package, from the lock file', () => {
    const packing = jobs.find(({ job }) => job === 'release.yml pack');
    const runs = packing?.steps.flatMap(({ run }) => run?.split('\n') ?? []) ?? [];
    const order = [
      'npm ci',
      'npm audit signatures',
      'npm run advisories -- --required',
      'npm test',
      'npm run reproduce -- --out packed',
    ];
    expect(runs.filter((line) => order.includes(line))).toEqual(order);
    const publishing = jobs.find(({ job }) => job === 'release.yml publish');
    expect(publishing?.steps.flatMap(({ run }) => run ?? [])).toEqual([
      'npm publish packed/holdpoint-*.tgz --provenance --access public',
    ]);
  });

  it('attach the published package with its digests, and sign the list of its contents with that file', () => {
    const { steps = [] } = jobs.find(({ job }) => job === 'release.yml release') ?? {};
    expect(steps.map(({ uses, run }) => uses?.split('@')[0] ?? run)).toEqual([
      'actions/download-artifact',
      'sha256sum --check SHA256SUMS',
      'actions/attest',
      'gh release create "$GITHUB_REF_NAME" packed/* --repo "$GITHUB_REPOSITORY" --verify-tag --generate-notes',
    ]);
    expect(steps[2]?.with).toEqual({
      'subject-path': 'packed/holdpoint-*.tgz',
      'sbom-path': 'packed/sbom.cdx.json',
    });
  });

  it('build the image of the packed file, over base images by digest, with signed provenance', () => {
    const { steps = [] } = jobs.find(({ job }) => job === 'release.yml image') ?? {};
    const script = steps.map(({ run = '' }) => run).join('');
    expect(script).toContain('mv packed/holdpoint-*.tgz .\n');
    expect(script).toContain('--push --provenance mode=max --sbom true');
    expect(script).toContain('--build-arg "$(base NODE_IMAGE)" --build-arg "$(base DEBIAN_IMAGE)"');
    expect(steps.at(-1)?.uses).toMatch(/^actions\/attest-build-provenance@/);
    expect(steps.at(-1)?.with).toMatchObject({ 'push-to-registry': true });
  });
});
