import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { clusterProgram } from './cluster-program.ts';

const root = join(import.meta.dirname, '../..');

/** What Helm printed for a chart. */
interface Rendered {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `helm template` on the chart for the release `refunds`, with further words of the command line. */
export async function renderChart(...words: string[]): Promise<Rendered> {
  const helm = await clusterProgram('helm');
  const chart = ['template', 'refunds', 'deploy/helm/holdpoint'];
  const { status, stdout, stderr } = spawnSync(helm, [...chart, ...words], {
    cwd: root,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}
