import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { clusterProgram } from '../../scripts/manifests/cluster-program.ts';
import { renderChart } from '../../scripts/manifests/render-chart.ts';
import { root, runCommand } from '../tooling/run-command.ts';
import type { Manifest } from './manifest-schemas.ts';

function manifestsIn(text: string): Manifest[] {
  return parseAllDocuments(text).map((one) => one.toJS());
}

/** Returns the manifests that `kubectl apply --kustomize` would send, over the folder of the example. */
export async function kustomized(folder: string): Promise<Manifest[]> {
  const copy = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  cpSync(join(root, folder), copy, { recursive: true });
  const packed = [
    '-czf',
    join(copy, 'agent.tar.gz'),
    '--exclude',
    '.service',
    '-C',
    'deploy/agent',
    '.',
  ];
  expect(await runCommand('tar', packed)).toMatchObject({ status: 0, stderr: '' });
  const { status, stdout, stderr } = await runCommand(await clusterProgram('kubectl'), [
    'kustomize',
    copy,
  ]);
  rmSync(copy, { recursive: true });
  expect([status, stderr]).toEqual([0, '']);
  // The lines of a base64 text are one for the cluster; its schema here refuses the breaks.
  return manifestsIn(
    stdout.replaceAll(
      /(?<=agent\.tar\.gz: )\|\n((?: +\S+\n)+)/g,
      (_, lines) => `${lines.replaceAll(/\s/g, '')}\n`,
    ),
  );
}

/** Returns the manifests of the chart with further words of the command line. */
export async function rendered(...words: string[]): Promise<Manifest[]> {
  const { status, stdout, stderr } = await renderChart(...words);
  expect([status, stderr]).toEqual([0, '']);
  return manifestsIn(stdout);
}
