import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { clone, type Fence, isCommand } from './fences.ts';

/** How the commands of a page are run, where it is not one after the other in the clone. */
export interface PagePlan {
  /** What a reader has done before, as commands. */
  before?: string;
  /** What has happened before a fence, as commands, by how it begins. */
  prepared?: Record<string, string>;
  /** Fences that do not end by themselves, by how they begin, and the command that succeeds once they are under way. */
  meanwhile?: Record<string, string>;
  /** Fences that cannot be run here, by how they begin, and why. */
  skipped?: Record<string, string>;
}

/** What became of the commands of a page. */
export interface PageRun {
  code: number | null;
  /** What each fence printed, by its line; the last one is where the page stopped. */
  outputs: Map<number, string>;
}

/** What a fence must print, taken from the block of text that follows it. */
export interface Promised {
  line: number;
  lines: string[];
}

const mark = '@@fence';

/**
 * Runs the commands of a page as they stand, in one shell, in the clone. The network is that of a machine of its own,
 * so that port 8080 is free, and `/tmp` is empty; everything ends with the page.
 */
export async function runPage(fences: readonly Fence[], plan: PagePlan): Promise<PageRun> {
  const folder = mkdtempSync(join(tmpdir(), 'page-'));
  try {
    mkdirSync(join(folder, 'home'));
    writeFileSync(join(folder, 'page.sh'), scriptOf(fences, plan));
    const child = spawn('bwrap', [...machine(folder), 'bash', '/tmp/page.sh'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 240_000,
      killSignal: 'SIGKILL',
    });
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    const code = await new Promise<number | null>((resolve) => {
      if (child.exitCode !== null) resolve(child.exitCode);
      else child.once('exit', resolve);
    });
    return { code, outputs: outputsOf(`${output}${errors}`) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Finds what the commands of a page are said to print. */
export function promisesOf(fences: readonly Fence[]): Promised[] {
  return fences.flatMap((fence, index) => {
    const next = fences[index + 1];
    if (!isCommand(fence) || next?.language !== 'text') return [];
    const lines = next.text.split('\n').filter((line) => line.trim() !== '');
    return [{ line: fence.line, lines }];
  });
}

/** The entry of a plan that speaks of a fence. */
export function entryFor<Value>(
  fence: Fence,
  entries: Record<string, Value> = {},
): [string, Value] | undefined {
  return Object.entries(entries).find(([start]) => fence.text.startsWith(start));
}

function machine(folder: string): string[] {
  const folders = join(clone, 'node_modules', '.cache', 'holdpoint-test');
  mkdirSync(folders, { recursive: true });
  const cache = realpathSync(folders);
  return [
    ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', folder, '/tmp'],
    ...['--ro-bind', clone, clone, '--bind', cache, cache],
    ...['--unshare-net', '--unshare-pid', '--die-with-parent', '--clearenv', '--chdir', clone],
    ...['--setenv', 'PATH', '/usr/local/bin:/usr/bin:/bin', '--setenv', 'HOME', '/tmp/home'],
    ...['--setenv', 'LANG', 'C.UTF-8', '--setenv', 'NODE_COMPILE_CACHE', cache],
  ];
}

function scriptOf(
  fences: readonly Fence[],
  { before = '', prepared, meanwhile, skipped }: PagePlan,
): string {
  const steps = fences.flatMap((fence) => {
    if (fence.file !== null) return [`cat > ${fence.file} <<'@@end'\n${fence.text}@@end`];
    if (!isCommand(fence) || entryFor(fence, skipped)) return [];
    const made = entryFor(fence, prepared)?.[1] ?? '';
    const until = entryFor(fence, meanwhile)?.[1];
    return [
      made,
      `echo '${mark} ${fence.line}'`,
      until === undefined ? fence.text : inBackground(fence, until),
    ];
  });
  return ['exec 2>&1', 'set -e', before, ...steps, `echo '${mark} 0'`].join('\n');
}

function inBackground({ text: commands, line }: Fence, until: string): string {
  const output = `/tmp/output-${line}`;
  return [
    `{\n${commands}\n} > ${output} 2>&1 &`,
    `for try in $(seq 400); do if ${until}; then break; fi; read -rt 0.05 <> <(:) || true; done`,
    `cat ${output}`,
    until,
  ].join('\n');
}

function outputsOf(output: string): Map<number, string> {
  const [first = '', ...parts] = output.split(`${mark} `);
  const entries = parts.map((part) => {
    const [line = ''] = part.split('\n', 1);
    return [Number(line), part.slice(line.length + 1)] as const;
  });
  return new Map([[-1, first], ...entries]);
}
