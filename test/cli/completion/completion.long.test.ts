import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listAgent } from '../../../src/actors/process/agent-list.ts';
import { shellScript, shells } from '../../../src/cli/completion/completion-command.ts';
import {
  cleanUp,
  type Daemon,
  holdpoint,
  refundAgent,
  startCommand,
  startDaemon,
  startProcess,
  temporaryFolder,
  untilHeld,
} from '../holdpoint.ts';

let daemon: Daemon;
let env: Record<string, string>;

beforeAll(async () => {
  env = { XDG_STATE_HOME: await temporaryFolder() };
  daemon = await startDaemon(await refundAgent(), { env });
  const said = ['--script', '[{"say": "hello"}]'];
  for (const id of ['done-1', 'a:1']) {
    await holdpoint(['task', 'send', ...said, '--id', id], { env });
  }
  const sent = startCommand(['task', 'send', 'Refund A-1042', '--id', 'held-1'], { env });
  sent.ended.catch(() => undefined);
  await untilHeld(daemon, 'held-1');
});

afterAll(cleanUp);

/** What bash offers at the end of a line, in some folder. */
async function offered(line: string, cwd?: string): Promise<string[]> {
  const script = join(await temporaryFolder(), 'completion.bash');
  await writeFile(script, shellScript('bash'));
  const breaks = line.split(/(?<=[=:])|(?=[=:])|\s+/).map((word) => `'${word}'`);
  const lines = [
    ...[`source ${script}`, `COMP_LINE='${line}'`, `COMP_POINT=\${#COMP_LINE}`],
    ...[`COMP_WORDS=(${breaks.join(' ')})`, `COMP_CWORD=${breaks.length - 1}`],
    ...['_holdpoint', 'printf "%s\\n" "${COMPREPLY[@]}"'],
  ];
  const bash = startProcess('bash', ['--norc', '-c', lines.join('\n')], {
    env,
    ...(cwd === undefined ? {} : { cwd }),
  });
  const { stdout, stderr } = await bash.ended;
  // There is no completion under way that options could be set for.
  expect(stderr.replaceAll(/^.*compopt: not currently.*\n/gm, '')).toBe('');
  return stdout.split('\n').filter((word) => word !== '');
}

describe.concurrent('bash', () => {
  it('completes commands and options', async () => {
    expect(await offered('holdpoint val')).toEqual(['validate']);
    expect(await offered('holdpoint skills add kub')).toEqual(['kubernetes']);
    expect(await offered('holdpoint skills list --category pay')).toEqual(['payments']);
    expect(await offered('bin/holdpoint task ap')).toEqual(['approve']);
    expect(await offered('holdpoint task approve held-1 --n')).toEqual(['--note', '--no-color']);
    expect(await offered('holdpoint completion ')).toEqual([...shells]);
    expect(await offered('holdpoint nothing ')).toEqual([]);
  });

  it('completes the tasks of the running agent: waiting ones for a decision', async () => {
    expect(await offered('holdpoint task approve ')).toEqual(['held-1']);
    expect(await offered('holdpoint task cancel ')).toEqual(['held-1']);
    expect((await offered('holdpoint task get ')).toSorted()).toEqual(['a:1', 'done-1', 'held-1']);
    expect(await offered('holdpoint task get don')).toEqual(['done-1']);
    expect(await offered('holdpoint task inspect don')).toEqual(['done-1']);
    expect(await offered(`holdpoint task get --dir ${daemon.directory} don`)).toEqual(['done-1']);
  });

  it('continues in a word that bash splits', async () => {
    expect(await offered('holdpoint task get a:')).toEqual(['1']);
    expect(await offered('holdpoint task list --state=def')).toEqual(['deferred']);
    expect(await offered(`holdpoint validate --dir=${daemon.directory.slice(0, -3)}`)).toContain(
      daemon.directory,
    );
  });

  it('never offers text that a shell would run, split or take for an option', async () => {
    const other = { XDG_STATE_HOME: await temporaryFolder() };
    for (const directory of ['/srv/$(touch hacked)', '/srv/a b', "/srv/x'y", '/srv/plain']) {
      listAgent({ agentId: 'a', directory, url: 'http://127.0.0.1:8080' }, other);
    }
    const answer = await holdpoint(['complete', '--', 'run', '--dir', '/srv/'], { env: other });
    expect(answer.stdout).toBe('folders\n/srv/plain\ta at http://127.0.0.1:8080\n');
  });

  it('completes files and folders where they are expected', async () => {
    const log = `${daemon.directory}/.service/`;
    expect(await offered('holdpoint audit verify ', log)).toContain('audit.ndjson');
    expect(await offered('holdpoint audit tail --file=aud', log)).toContain('audit.ndjson');
    const folders = await offered('holdpoint run --dir ', daemon.directory);
    expect(folders).toContain('scripts');
    expect(folders).toContain(daemon.directory);
    expect(folders).not.toContain('service.yaml');
  });

  it('runs nothing on the line', async () => {
    const cwd = await temporaryFolder();
    await offered('holdpoint task get `touch one` $(touch two) ', cwd);
    expect(await offered('cat ', cwd)).not.toContain('one');
    expect(spawnSync('ls', [cwd]).stdout.toString()).toBe('');
  });

  it('completes on a key press', async () => {
    const script = join(await temporaryFolder(), 'completion.bash');
    await writeFile(script, shellScript('bash'));
    const terminal = startProcess('script', ['-qec', 'bash --norc --noprofile -i', '/dev/null'], {
      env: { ...env, TERM: 'dumb', PS1: '> ' },
    });
    terminal.child.stdin?.write(
      `source ${script}; holdpoint() { echo "called: $*."; }\nholdpoint task app\theld\t\nexit\n`,
    );
    const { stdout } = await terminal.ended;
    expect(stripVTControlCharacters(stdout)).toContain('called: task approve held-1.');
  });
});

describe('the answer to a shell', () => {
  it('is silent when no agent runs, and contains no token', async () => {
    const alone = { XDG_STATE_HOME: await temporaryFolder(), SERVICE_TOKEN: 'mine' };
    const line = ['complete', '--', 'task', 'get', ''];
    expect(await holdpoint(line, { env: alone })).toMatchObject({
      ...{ code: 0, stdout: 'nothing\n', stderr: '' },
    });
    const { stdout } = await holdpoint([...line.slice(0, -1), '--token-file', ''], { env });
    expect(stdout).toBe('files\n');
  });
});

describe('completion', () => {
  it.each(shells)('prints a script that %s can read', async (shell) => {
    const { code, stdout, stderr } = await holdpoint(['completion', shell]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { error, status, stderr: complaints } = spawnSync(shell, ['-n'], { input: stdout });
    // Not every machine has every shell.
    if (error !== undefined) return;
    expect({ status, complaints: complaints.toString() }).toEqual({ status: 0, complaints: '' });
  });

  it('lists the supported shells', async () => {
    const { code, stderr } = await holdpoint(['completion', 'tcsh']);
    expect(code).toBe(2);
    expect(stderr).toContain(
      'Allowed choices are bash, zsh, fish; see holdpoint completion --help',
    );
  });
});
