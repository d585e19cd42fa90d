import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ToolError, type ToolRun } from '../../../../src/actors/ports/tool.ts';
import { readSkills, type ScriptDefinition } from '../../../../src/actors/tools/skills/skills.ts';
import { type ScriptDependencies, scriptTool } from '../../../../src/actors/tools/tools.ts';
import { patient } from '../../../helpers/patient.ts';
import { aDefinition, clock } from '../builtin/isolated-script.ts';
import { agentFolder } from '../skills/agent-folder.ts';

const run: ToolRun = {
  taskId: 't1',
  callId: 'c1',
  correlationId: 'x',
  credential: null,
  tags: {},
  signal: new AbortController().signal,
};

interface Script {
  file?: string;
  content: string;
  definition?: Partial<ScriptDefinition>;
  dependencies?: Partial<ScriptDependencies>;
}

function tool({ file = 'go.sh', content, definition = {}, dependencies = {} }: Script) {
  const agentDirectory = agentFolder({ [file]: content });
  return scriptTool(
    { ...aDefinition(join(agentDirectory, file)), ...definition },
    { agentDirectory, env: {}, clock, ...dependencies },
  );
}

/** True while the process runs; one that has ended and waits to be collected does not. */
function isRunning(pid: string): boolean {
  try {
    return !/^\d+ \(.*\) [ZX]/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
}

describe('scriptTool', () => {
  it.each([
    ['go.sh', 'cat; echo " $1"'],
    ['go.py', 'import sys\nprint(sys.stdin.read(), sys.argv[1])'],
    ['go.js', 'process.stdin.on("data", (d) => console.log(String(d), process.argv[2]))'],
    ['go.mjs', 'for await (const d of process.stdin) console.log(String(d), process.argv[2])'],
    [
      'go.ts',
      'const text: string = process.argv[2]!;\nfor await (const d of process.stdin) console.log(String(d), text)',
    ],
  ])('passes %s the arguments on stdin and as its first argument', async (file, content) => {
    const args = { name: "Zoë's $(id) `x` \n" };
    const text = JSON.stringify(args);
    expect(await tool({ file, content }).run(args, run)).toBe(`${text} ${text}`);
  });

  it('removes one newline from the end of the result', async () => {
    expect(await tool({ content: 'printf "a\\n\\n"' }).run({}, run)).toBe('a\n');
    expect(await tool({ content: 'true' }).run({}, run)).toBe('');
  });

  it('passes arguments that are too long for the command line only on stdin', async () => {
    const content = 'import sys\nprint(len(sys.stdin.read()), len(sys.argv[1]), sys.argv[1][0])';
    const lengths = (size: number) =>
      tool({ file: 'go.py', content }).run({ a: 'x'.repeat(size - 8) }, run);
    expect(await lengths(128 * 1024 - 1)).toBe('131071 131071 {');
    expect(await lengths(128 * 1024)).toBe('131072 1 -');
  });

  it('accepts a script that never reads its input', async () => {
    const args = { a: 'x'.repeat(2 * 1024 * 1024) };
    expect(await tool({ content: 'exec 0<&-; echo done' }).run(args, run)).toBe('done');
  });

  it('builds the environment from an empty one', async () => {
    vi.stubEnv('CANARY_SECRET', 'leaked');
    vi.stubEnv('NODE_OPTIONS', '--no-warnings');
    const script = tool({
      file: 'go.mjs',
      content: 'console.log(JSON.stringify({ env: process.env, cwd: process.cwd() }))',
      definition: { environment: ['SHOP_KEY', 'NOT_SET'] },
      dependencies: {
        env: { SHOP_KEY: 'k', OTHER_KEY: 'o', TZ: 'Europe/Berlin', PATH: '/evil' },
      },
    });
    const tags = { workflow_id: 'refunds', stage_id: 'pay' };
    const { env, cwd } = JSON.parse(await script.run({}, { ...run, tags }));
    vi.unstubAllEnvs();
    expect(env).toEqual({
      SHOP_KEY: 'k',
      SERVICE_WORKFLOW_ID: 'refunds',
      SERVICE_STAGE_ID: 'pay',
      PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      HOME: cwd,
      LANG: 'C.UTF-8',
      PYTHONDONTWRITEBYTECODE: '1',
      TZ: 'Europe/Berlin',
      SERVICE_TOOL_CALL_ID: 'c1',
      SERVICE_TASK_ID: 't1',
      SERVICE_AGENT_DIR: expect.stringContaining('holdpoint-test-'),
    });
    expect(cwd).not.toBe(process.cwd());
  });

  it('leaves no compiled Python next to a script, which would count as a code change', async () => {
    const content = 'import sys, os\nimport helper\nprint(sorted(os.listdir(sys.path[0])))';
    const agentDirectory = agentFolder({ 'go.py': content, 'helper.py': 'pass' });
    const python = scriptTool(aDefinition(join(agentDirectory, 'go.py')), {
      agentDirectory,
      env: {},
      clock,
    });
    const before = await python.identity?.();
    expect(await python.run({}, run)).toBe("['go.py', 'helper.py']");
    expect(await python.identity?.()).toEqual(before);
  });

  it('is another tool with other values of its variables, except credentials', async () => {
    const environment = ['SHOP_URL', 'SHOP_TOKEN'];
    const identityWith = (env: Record<string, string>) => {
      const dependencies = { env };
      return tool({ content: '', definition: { environment }, dependencies }).identity?.();
    };
    const one = await identityWith({ SHOP_URL: 'a', SHOP_TOKEN: 'x' });
    expect(await identityWith({ SHOP_URL: 'a', SHOP_TOKEN: 'y' })).toEqual(one);
    expect(await identityWith({ SHOP_URL: 'b', SHOP_TOKEN: 'x' })).not.toEqual(one);
  });

  it('starts only the approved code', async () => {
    const go = tool({ content: 'ls "$SERVICE_AGENT_DIR"; touch "$SERVICE_AGENT_DIR/ran"' });
    const confirm = () => Promise.reject(new ToolError('it has changed'));
    await expect(go.run({}, { ...run, confirm })).rejects.toThrow('it has changed');
    expect(await go.run({}, { ...run, confirm: async () => undefined })).toBe('go.sh');
  });

  it('names the first writable and kept folder, and no other', async () => {
    const content = 'echo "${SERVICE_WORK_DIR-none}"';
    const isolation = (writable: string[]) => () => ({
      ...{ proxy: null, sandbox: 'env' as const, writable },
    });
    const told = (writable: string[]) =>
      tool({ content, dependencies: { isolation: isolation(writable) } }).run({}, run);
    expect(await told(['/agent/data', '/agent/more'])).toBe('/agent/data');
    expect(await told([])).toBe('none');
  });

  it('runs in its own private folder that is deleted afterwards', async () => {
    const script = tool({ content: 'touch left; stat -c %a .; pwd' });
    const [mode, first] = (await script.run({}, run)).split('\n');
    const [, second] = (await script.run({}, run)).split('\n');
    expect(mode).toBe('700');
    expect(first).not.toBe(second);
    expect(() => readFileSync(`${first}/left`)).toThrow('ENOENT');
  });

  it('reports the exit code and the last lines of stderr, without control characters', async () => {
    const content =
      'for i in 1 2 3 4 5 6; do echo "line $i" >&2; done; printf "\\033[31mred\\a\\r\\n\\n" >&2; exit 3';
    await expect(tool({ content }).run({}, run)).rejects.toThrow(
      new ToolError('go failed with exit code 3: line 3 / line 4 / line 5 / line 6 / red'),
    );
  });

  it('keeps the values of declared variables out of the error', async () => {
    const script = tool({
      content: 'echo "denied for $SHOP_KEY" >&2; exit 1',
      definition: { environment: ['SHOP_KEY'] },
      dependencies: { env: { SHOP_KEY: 's3cr3t-value' } },
    });
    await expect(script.run({}, run)).rejects.toThrow(
      new ToolError('go failed with exit code 1: denied for [redacted]'),
    );
  });

  it('reports a script that a signal ended', async () => {
    await expect(tool({ content: 'kill -SEGV $$' }).run({}, run)).rejects.toThrow(
      new ToolError('go was ended by SIGSEGV', { isUnknown: true }),
    );
  });

  it.each(['>&1', '>&2'])('stops a script that writes 2 MiB to %s', async (where) => {
    const content = `head -c 2097152 /dev/zero ${where}; sleep 300`;
    await expect(tool({ content }).run({}, run)).rejects.toThrow(
      new ToolError('go wrote more than a tool may and was stopped; let it write less', {
        isUnknown: true,
      }),
    );
  });

  it('accepts exactly the limit of output', async () => {
    const script = tool({ content: 'head -c 1048576 /dev/zero | tr "\\0" x' });
    expect((await script.run({}, run)).length).toBe(1048576);
  });

  it('kills a script that ignores an abort, with its children', async () => {
    const content =
      'trap "" TERM; sleep 300 & echo "$$ $!" > "$SERVICE_AGENT_DIR/pids"; wait; wait';
    const folder = agentFolder({ pids: '' });
    const script = tool({
      content,
      dependencies: { agentDirectory: folder, limits: { timeout: 300, grace: 50 } },
    });
    await expect(script.run({}, run)).rejects.toThrow(
      new ToolError('go took too long and was stopped; its outcome is unknown', {
        isUnknown: true,
      }),
    );
    const pids = readFileSync(join(folder, 'pids'), 'utf8').trim().split(' ');
    expect(pids).toHaveLength(2);
    await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), patient);
  });

  it('gives an aborted script time to exit', async () => {
    const folder = agentFolder({});
    const content =
      'trap "echo ended > $SERVICE_AGENT_DIR/how; exit 0" TERM; echo > "$SERVICE_AGENT_DIR/up"; sleep 300 & wait';
    const abort = new AbortController();
    const script = tool({ content, dependencies: { agentDirectory: folder } });
    const outcome = expect(script.run({}, { ...run, signal: abort.signal })).rejects.toThrow(
      new ToolError('go was stopped because its task was', { isUnknown: true }),
    );
    await vi.waitFor(() => readFileSync(join(folder, 'up')), patient);
    abort.abort();
    await outcome;
    expect(readFileSync(join(folder, 'how'), 'utf8')).toBe('ended\n');
  });

  it('does not start a script whose task was stopped already', async () => {
    const folder = agentFolder({});
    const content = 'touch "$SERVICE_AGENT_DIR/started"';
    const script = tool({ content, dependencies: { agentDirectory: folder } });
    await expect(script.run({}, { ...run, signal: AbortSignal.abort() })).rejects.toThrow(
      ToolError,
    );
    expect(() => readFileSync(join(folder, 'started'))).toThrow('ENOENT');
  });

  it('kills a background child of a finished script without waiting for it', async () => {
    const pid = await tool({ content: 'sleep 300 & echo $!' }).run({}, run);
    expect(pid).toMatch(/^\d+$/);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), patient);
  });

  it('does not wait for a child in another group that keeps the output open', async () => {
    const content = 'setsid sleep 300 & echo $!';
    const pid = await tool({ content, dependencies: { limits: { grace: 50 } } }).run({}, run);
    expect(pid).toMatch(/^\d+$/);
    process.kill(Number(pid), 'SIGKILL');
  });

  it('refuses invalid arguments without starting the script', async () => {
    const script = tool({
      content: 'echo started',
      definition: { parameters: { type: 'object', required: ['id'] } },
    });
    await expect(script.run({}, run)).rejects.toThrow(new ToolError('go: argument id is missing'));
  });

  it('fails cleanly when the daemon is out of file descriptors', () => {
    const module = new URL('../../../../src/actors/tools/scripts/run-process.ts', import.meta.url)
      .href;
    const code = `
      import { openSync } from 'node:fs';
      import { runProcess } from ${JSON.stringify(module)};
      const start = () => runProcess(
        { program: '/bin/true', args: [], cwd: '/', env: {}, input: '', isSupervised: false },
        { timeout: 5_000, grace: 500, outputBytes: 100 },
        { clock: { setTimeout, clearTimeout }, signal: new AbortController().signal },
      );
      await start();
      try { for (;;) openSync('/dev/null'); } catch {}
      const failure = await start().catch(({ code }) => code);
      setImmediate(() => process.exit(failure === 'EMFILE' ? 0 : 2));
    `;
    const { status, stderr } = spawnSync(
      'prlimit',
      ['--nofile=64', process.execPath, '--input-type=module', '--eval', code],
      { encoding: 'utf8' },
    );
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  it.each([
    ['its own code', 'scripts/go.sh', 'echo harmless'],
    ['imported code', 'scripts/lib/rates.py', 'rate = 2'],
  ])('does not run once %s differs from the loaded one', async (_, file, content) => {
    const directory = agentFolder({
      'SKILL.md': '---\nname: s\ndescription: S.\n---\n\n## Tool: go\n\nGoes.\n',
      'scripts/go.sh': 'touch "$SERVICE_AGENT_DIR/ran"; cat "$SERVICE_AGENT_DIR/scripts/notes.txt"',
      'scripts/lib/rates.py': 'rate = 1',
      'scripts/notes.txt': 'one',
    });
    const { skills } = await readSkills(directory);
    const definition = skills[0]!.tools[0]!;
    const script = scriptTool(definition, { agentDirectory: directory, env: {}, clock });
    expect(await script.run({}, run)).toBe('one');
    writeFileSync(join(directory, 'scripts/notes.txt'), 'two');
    writeFileSync(join(directory, 'scripts/new.sh'), 'echo new');
    expect(await script.run({}, run)).toBe('two');
    rmSync(join(directory, 'ran'));
    const before = readFileSync(join(directory, file));
    writeFileSync(join(directory, file), content);
    const changed = `go was not run: ${file} has changed since the agent started; restart the agent to use it`;
    await expect(script.run({}, run)).rejects.toMatchObject({
      message: changed,
      kind: 'script changed',
    });
    rmSync(join(directory, file));
    await expect(script.run({}, run)).rejects.toThrow(new ToolError(changed));
    expect(existsSync(join(directory, 'ran'))).toBe(false);
    writeFileSync(join(directory, file), before);
    expect(await script.run({}, run)).toBe('two');
  });

  it.each([
    ['exit code 3', 'echo "card 4711" >&2; exit 3', {}],
    ['signal SIGSEGV', 'kill -SEGV $$', {}],
    ['timeout', 'sleep 300', { timeout: 50, grace: 50 }],
    ['too much output', 'head -c 2097152 /dev/zero', {}],
  ])(
    'names the kind of a failure without text of the script: %s',
    async (kind, content, limits) => {
      const script = tool({ content, dependencies: { limits } });
      await expect(script.run({}, run)).rejects.toMatchObject({ kind });
    },
  );

  it('exits with a killed daemon, with its children', async () => {
    const folder = agentFolder({
      'go.sh': 'sleep 300 & echo "$$ $!" > pids.draft; mv pids.draft pids; wait',
    });
    const module = new URL('../../../../src/actors/tools/scripts/run-process.ts', import.meta.url)
      .href;
    const code = `
      import { runProcess } from ${JSON.stringify(module)};
      const ended = runProcess(
        { program: '/bin/sh', args: ['go.sh'], cwd: ${JSON.stringify(folder)}, env: {}, input: '', isSupervised: false },
        { timeout: 60_000, grace: 500, outputBytes: 100 },
        { clock: { setTimeout, clearTimeout }, signal: new AbortController().signal },
      );
      console.log('started');
      await ended;`;
    const daemon = spawn(process.execPath, ['--input-type=module', '--eval', code]);
    onTestFinished(() => void daemon.kill('SIGKILL'));
    await once(daemon.stdout, 'data');
    const pids = await vi.waitFor(
      () => readFileSync(join(folder, 'pids'), 'utf8').trim().split(' '),
      { timeout: 20_000 },
    );
    expect(pids.filter(isRunning)).toHaveLength(2);
    daemon.kill('SIGKILL');
    await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: 60_000 });
  });

  it('reports a script that cannot be started', async () => {
    const script = tool({ content: '', definition: { script: '/no/such/go.sh' } });
    await expect(script.run({}, run)).rejects.toThrow(/^go failed with exit code 127: .*go\.sh/);
    const program = tool({
      content: '',
      definition: { environment: ['A'] },
      dependencies: { env: { A: 'a\0' } },
    });
    await expect(program.run({}, run)).rejects.toThrow(
      new ToolError('go could not be started (ERR_INVALID_ARG_VALUE)'),
    );
  });
});
