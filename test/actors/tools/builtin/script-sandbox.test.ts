import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, openSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { ToolError } from '../../../../src/actors/ports/tool.ts';
import { isolate } from '../../../../src/actors/tools/sandbox/sandbox.ts';
import { rawRequest } from '../../../helpers/raw-request.ts';
import { aServer } from '../../outbound/egress/a-server.ts';
import { aProxy } from '../../outbound/proxy/a-proxy.ts';
import { isWithoutBwrap, needsBwrap } from '../sandbox/needs-bwrap.ts';
import { agentFolder } from '../skills/agent-folder.ts';
import { aRun, type IsolatedScript, isolatedScript } from './isolated-script.ts';

needsBwrap();

/** Runs a script in a sandbox and returns its result. */
function go(content: string, script: Partial<IsolatedScript> = {}): Promise<string> {
  return isolatedScript({ content, level: 'bwrap', ...script }).tool.run({}, aRun());
}

/** Ids of the processes of this machine whose command line holds a word. */
function processesWith(word: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    try {
      return /^\d+$/.test(pid) && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(word);
    } catch {
      return false;
    }
  });
}

describe.skipIf(isWithoutBwrap)('a script in a sandbox', () => {
  it.each([
    ['go.sh', 'cat; echo " $1"'],
    ['go.py', 'import sys\nprint(sys.stdin.read(), sys.argv[1])'],
    ['go.js', 'process.stdin.on("data", (d) => console.log(String(d), process.argv[2]))'],
    [
      'go.ts',
      'const text: string = process.argv[2]!;\nfor await (const d of process.stdin) console.log(String(d), text)',
    ],
  ])('gives %s its arguments and returns its result', async (file, content) => {
    const { tool } = isolatedScript({ content, file, level: 'bwrap' });
    expect(await tool.run({ a: 'ü $(id)' }, aRun())).toBe('{"a":"ü $(id)"} {"a":"ü $(id)"}');
  });

  it('can read certificates, and not the keys of the machine next to them', async () => {
    const shown = (await go('ls /etc/ssl; find /etc -name private')).split('\n');
    expect(shown).toContain('certs');
    expect(shown.filter((name) => name.includes('private'))).toEqual([]);
  });

  it('reaches no socket in the folder of the agent', async () => {
    const content = `import { connect } from 'node:net';
      const socket = connect(process.env.SERVICE_AGENT_DIR + '/run/collector.sock');
      socket.on('connect', () => { console.log('reached'); socket.end(); });
      socket.on('error', ({ code }) => console.log(code));`;
    const { tool, agentDirectory } = isolatedScript({
      content,
      file: 'go.mjs',
      level: 'bwrap',
      files: { 'run/pid': '' },
    });
    const server = createServer((socket) => socket.end()).listen(
      join(agentDirectory, 'run/collector.sock'),
    );
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    expect(await tool.run({}, aRun())).toBe('ECONNREFUSED');
  });

  it('has a private writable folder, and reads its other files', async () => {
    const content =
      'pwd > where; cat where; [ "$HOME" = "$PWD" ] && cat "$SERVICE_AGENT_DIR/data/prices.csv"; id -u; whoami';
    const [cwd, prices, uid, user] = (
      await go(content, { files: { 'data/prices.csv': '1,2\n' } })
    ).split('\n');
    expect([prices, uid, user]).toEqual(['1,2', '1000', 'agent']);
    expect(existsSync(cwd!)).toBe(false);
  });

  it('can read no secret of the agent, of the user or of the daemon', async () => {
    vi.stubEnv('CANARY', 'canary-in-the-daemon');
    const secrets = {
      '.service/runtime.token': 'canary-token',
      '.env': 'CANARY=canary-env',
      'skills/pay/.env': 'canary-deep',
      'skills/pay/server.key': 'canary-key',
    };
    const content = `
      for file in ~/.ssh/* /root/.ssh/* /root/.* /etc/shadow /proc/1/environ /proc/*/environ \\
        "$SERVICE_AGENT_DIR"/.service/* "$SERVICE_AGENT_DIR"/.env "$SERVICE_AGENT_DIR"/skills/pay/.env \\
        "$SERVICE_AGENT_DIR"/skills/pay/server.key; do cat "$file"; done 2>/dev/null | tr '\\0' '\\n' | grep -i canary
      ls -A / "$SERVICE_AGENT_DIR" "$SERVICE_AGENT_DIR/skills/pay"; ls /home /root /work /var 2>/dev/null; true`;
    const said = await go(content, { files: secrets });
    vi.unstubAllEnvs();
    expect(said).not.toMatch(/canary/i);
    expect(said.split('\n')).toEqual(expect.arrayContaining(['scripts', 'skills', 'server.key']));
    expect(said).not.toMatch(/^(root|home|work|var|\.service)$/m);
  });

  it('can write only to its folder and its own temporary ones', async () => {
    const content = `
      for folder in / /usr /usr/bin /etc /dev /opt/holdpoint "$SERVICE_AGENT_DIR" "$SERVICE_AGENT_DIR/scripts" \\
        "$SERVICE_AGENT_DIR/.service" /proc/sys; do
        touch "$folder/mark" 2>/dev/null && echo "wrote to $folder"
      done
      echo hacked 2>/dev/null > "$SERVICE_AGENT_DIR/scripts/go.sh" && echo rewrote
      touch "$HOME/mark" /tmp/mark-of-sandbox /dev/shm/mark-of-sandbox && echo fine`;
    expect(await go(content, { files: { '.service/x': '' } })).toBe('fine');
    expect(existsSync('/tmp/mark-of-sandbox')).toBe(false);
  });

  it('may write to the named folders, which are kept, and nowhere else', async () => {
    const content = `cat "$SERVICE_AGENT_DIR/data/orders.csv"; echo paid > "$SERVICE_AGENT_DIR/data/orders.csv"
      echo kept > "$SERVICE_WORK_DIR/notes.txt"; ln -s /etc/passwd "$SERVICE_WORK_DIR/link"
      touch "$SERVICE_AGENT_DIR/mark" "$SERVICE_AGENT_DIR/database" "$SERVICE_AGENT_DIR/other/mark" 2>/dev/null; true`;
    const { tool, agentDirectory } = isolatedScript({
      content,
      level: 'bwrap',
      files: { 'data/orders.csv': 'open', 'other/x': '' },
      writable: ['var/work', 'data'],
    });
    expect(await tool.run({}, aRun())).toBe('open');
    expect(readFileSync(join(agentDirectory, 'var/work/notes.txt'), 'utf8')).toBe('kept\n');
    expect(readFileSync(join(agentDirectory, 'data/orders.csv'), 'utf8')).toBe('paid\n');
    expect(readdirSync(agentDirectory).toSorted()).toEqual(['data', 'other', 'scripts', 'var']);
    expect(readdirSync(join(agentDirectory, 'other'))).toEqual(['x']);
  });

  it('does not start where a writable folder has become a link', async () => {
    const { tool, agentDirectory } = isolatedScript({
      content: 'echo ran',
      level: 'bwrap',
      files: { '.service/runtime.token': '' },
      writable: ['work'],
    });
    symlinkSync('.service', join(agentDirectory, 'work'));
    await expect(tool.run({}, aRun())).rejects.toThrow(
      new ToolError(
        `go could not be started (${agentDirectory}/work leads elsewhere now; restart the agent)`,
      ),
    );
  });

  it('gets only the descriptors of input, output and error output', async () => {
    const content = `import { readdirSync, readlinkSync } from 'node:fs';
      const kinds = readdirSync('/proc/self/fd').map((fd) => { try { return [fd, readlinkSync('/proc/self/fd/' + fd)]; } catch { return [fd, '']; } });
      console.log(kinds.filter(([fd, to]) => Number(fd) > 2 && to.startsWith('socket:')).length);`;
    expect(await go(content, { file: 'go.mjs' })).toBe('0');
  });

  it('gets no descriptor that the starter of the daemon left open', async () => {
    const agentDirectory = agentFolder({ '.service/runtime.token': 'canary', 'home/x': '' });
    const leftOpen = openSync(join(agentDirectory, '.service'), 'r');
    onTestFinished(() => closeSync(leftOpen));
    const content =
      'cat /proc/self/fd/40/runtime.token "/proc/$PPID/fd/40/runtime.token" 2>/dev/null; echo tried';
    const { program, args } = await isolate('/bin/sh', ['-c', content], {
      ...{ level: 'bwrap', agentDirectory, hidden: [], writable: [], proxy: null },
      ...{ home: join(agentDirectory, 'home'), timeout: 10_000 },
    });
    const between = Array.from({ length: 36 }, () => 'ignore' as const);
    const stdio = ['ignore', 'pipe', 'ignore', 'pipe', ...between, leftOpen] as const;
    const child = spawn(program, args, { env: {}, stdio: [...stdio] });
    child.stdio[3]?.on('error', () => undefined);
    expect(await text(child.stdout as Readable)).toBe('tried\n');
  });

  it('sees no other process and reaches none', async () => {
    const content = `ls /proc | grep -c '^[0-9]'; kill -0 ${process.pid} 2>/dev/null && echo reached; true`;
    const count = Number(await go(content));
    expect(count).toBeLessThan(12);
  });

  it('has only the proxy for egress', async () => {
    const { port, seen } = await aServer();
    const { proxy, records } = await aProxy({ tunnelPorts: [port] });
    const url = `http://api.example.test:${port}/`;
    const content = `
      curl -s -m 2 --noproxy '*' http://127.0.0.1:${port}/ || echo "curl $?"
      (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo tcp
      (echo x > /dev/udp/127.0.0.1/53) 2>/dev/null; getent hosts example.test && echo dns
      python3 -c 'import socket; socket.create_connection(("127.0.0.1", ${port}), 2)' 2>/dev/null && echo python
      curl -s -m 5 ${url}; echo
      curl -s -m 5 -p ${url}; echo
      curl -s -m 5 http://evil.test/; echo
      curl -s -m 5 https://evil.test/ || echo "curl $?"
      ls /sys 2>/dev/null; tail -n +3 /proc/net/dev | cut -d: -f1`;
    expect((await go(content, { proxy })).split('\n').map((line) => line.trim())).toEqual([
      'curl 7',
      'hello',
      'hello',
      'egress blocked: evil.test is not on the allowlist (mode=allowlist)',
      'curl 56',
      'lo',
    ]);
    expect(seen.map(({ headers }) => headers.host)).toEqual(
      [url, url].map((to) => new URL(to).host),
    );
    expect(records.map(({ domain, reason }) => [domain, reason])).toEqual([
      ['api.example.test', null],
      ['api.example.test', null],
      ['evil.test', 'is not on the allowlist'],
      ['evil.test', 'is not on the allowlist'],
    ]);
  });

  it('has no egress at all without a proxy', async () => {
    const { port, seen } = await aServer();
    const content = `curl -s -m 2 http://127.0.0.1:${port}/ || echo "curl $?"; env | grep -ci proxy; true`;
    expect(await go(content)).toBe('curl 7\n0');
    expect(seen).toEqual([]);
  });

  it('returns exit codes, signals and error output unchanged', async () => {
    await expect(go('echo why >&2; exit 3')).rejects.toThrow(
      new ToolError('go failed with exit code 3: why'),
    );
    await expect(go('kill -SEGV $$')).rejects.toThrow(
      new ToolError('go was ended by SIGSEGV', { isUnknown: true }),
    );
    await expect(go('exit 139')).rejects.toThrow(new ToolError('go failed with exit code 139'));
  });

  it('never counts as a success when the bridge is killed', async () => {
    await expect(go('kill -9 $PPID; sleep 300')).rejects.toThrow(/^go failed with exit code /);
  });

  it('has time to exit when it is aborted', async () => {
    const abort = new AbortController();
    const { proxy, records } = await aProxy();
    const content = `trap "curl -s http://ended.test/; exit 0" TERM; curl -s http://up.test/; sleep 300 & wait`;
    const { tool } = isolatedScript({ content, level: 'bwrap', proxy });
    const outcome = expect(tool.run({}, aRun({ signal: abort.signal }))).rejects.toThrow(
      new ToolError('go was stopped because its task was', { isUnknown: true }),
    );
    await vi.waitFor(() => expect(records).toHaveLength(1), 5_000);
    abort.abort();
    await outcome;
    expect(records.map(({ domain }) => domain)).toEqual(['up.test', 'ended.test']);
  });

  it('is killed if it ignores an abort, with every child, also one of another session', async () => {
    const word = `holdpoint-${process.pid}-stubborn`;
    const content = `trap "" TERM; setsid bash -c 'exec -a ${word} sleep 300' & setsid bash -c 'trap "" TERM; exec -a ${word} sleep 300' & wait; wait; sleep 300`;
    const outcome = expect(go(content, { limits: { timeout: 1_000, grace: 100 } })).rejects.toThrow(
      new ToolError('go took too long and was stopped; its outcome is unknown', {
        isUnknown: true,
      }),
    );
    await vi.waitFor(() => expect(processesWith(word).length).toBeGreaterThanOrEqual(2), 5_000);
    await outcome;
    await vi.waitFor(() => expect(processesWith(word)).toEqual([]), 5_000);
  });

  it('has its remaining children killed, also in another session', async () => {
    const word = `holdpoint-${process.pid}-left`;
    const content = `setsid bash -c 'exec -a ${word} sleep 300' & bash -c 'exec -a ${word} sleep 300' & sleep 0.1; echo done`;
    expect(await go(content)).toBe('done');
    await vi.waitFor(() => expect(processesWith(word)).toEqual([]), 5_000);
  });

  it('stops a script that starts too many processes', async () => {
    const content = 'for i in {1..300}; do sleep 300 & done; wait';
    await expect(go(content, { limits: { timeout: 10_000 } })).rejects.toThrow(
      new ToolError('go started more processes than a tool may and was stopped', {
        isUnknown: true,
      }),
    );
  });

  it('bounds a fork bomb and ends all of it', async () => {
    const content = 'bomb() { bomb | bomb & }; bomb; sleep 300';
    const { tool, agentDirectory } = isolatedScript({
      content,
      level: 'bwrap',
      limits: { timeout: 2_000, grace: 50 },
    });
    await expect(tool.run({}, aRun())).rejects.toThrow(
      /started more processes than a tool may|took too long|exit code/,
    );
    await vi.waitFor(() => expect(processesWith(agentDirectory)).toEqual([]), 10_000);
  });

  it('stops a script that writes 1 GB', async () => {
    await expect(go('head -c 1000000000 /dev/zero')).rejects.toThrow(
      new ToolError('go wrote more than a tool may and was stopped; let it write less', {
        isUnknown: true,
      }),
    );
  });

  it('has limits for the size of files, core dumps and open files', async () => {
    const content =
      'ulimit -c; ulimit -f; ulimit -n; ulimit -u; truncate -s 300M big || echo refused';
    expect((await go(`{ ${content}; } 2>/dev/null`)).split('\n')).toEqual([
      '0',
      '262144',
      '1024',
      '256',
      'refused',
    ]);
  });

  it('has no proxy password in its errors', async () => {
    const { proxy } = await aProxy();
    await expect(go('echo "failed: ${HTTP_PROXY#*//*:}" >&2; exit 1', { proxy })).rejects.toThrow(
      new ToolError(`go failed with exit code 1: failed: [redacted]@127.0.0.1:${proxy.port}`),
    );
  });
});

describe('a script without a sandbox', () => {
  const env = (content: string, script: Partial<IsolatedScript> = {}) =>
    go(content, { level: 'env', ...script });

  it('has limits for the size of files, core dumps and open files', async () => {
    const content = 'ulimit -c; ulimit -f; ulimit -n; truncate -s 300M big || echo refused';
    expect((await env(`{ ${content}; } 2>/dev/null`)).split('\n')).toEqual([
      '0',
      '262144',
      '1024',
      'refused',
    ]);
  });

  it.each([
    ['go.sh', 'curl -s "$1"'],
    [
      'go.py',
      'import os, urllib.request\nprint(urllib.request.urlopen(os.environ["URL"]).read().decode())',
    ],
    ['go.mjs', 'console.log(await (await fetch(process.env.URL)).text())'],
  ])('connects through the proxy from %s', async (file, content) => {
    const { port } = await aServer();
    const { proxy, records } = await aProxy({ tunnelPorts: [port] });
    const url = `http://api.example.test:${port}/`;
    const filled = content
      .replace('"$1"', url)
      .replace(/os\.environ\["URL"\]|process\.env\.URL/, `"${url}"`);
    expect((await env(filled, { file, proxy })).trim()).toBe('hello');
    expect(records.map(({ domain, reason }) => [domain, reason])).toEqual([
      ['api.example.test', null],
    ]);
  });

  it('has every process of a fork bomb killed at the time limit', async () => {
    const content = 'bomb() { sleep 0.05; bomb & bomb & wait; }; bomb';
    const { tool, agentDirectory } = isolatedScript({
      content,
      level: 'env',
      limits: { timeout: 300, grace: 50 },
    });
    await expect(tool.run({}, aRun())).rejects.toThrow(
      new ToolError('go took too long and was stopped; its outcome is unknown', {
        isUnknown: true,
      }),
    );
    await vi.waitFor(() => expect(processesWith(agentDirectory)).toEqual([]), 10_000);
  });
});

describe.each(isWithoutBwrap ? (['env'] as const) : (['env', 'bwrap'] as const))(
  'two scripts at once (%s)',
  (level) => {
    it('are distinguished at the proxy', async () => {
      const { port } = await aServer();
      const { proxy, records } = await aProxy({ propagateTo: ['*.example.test'] });
      const content = `for i in 1 2 3; do curl -s http://"$SERVICE_TASK_ID".example.test:${port}/; done`;
      const { tool } = isolatedScript({ content, level, proxy });
      const runs = ['t1', 't2'].map((taskId) =>
        tool.run({}, aRun({ taskId, correlationId: `c-${taskId}`, tags: { workflow_id: taskId } })),
      );
      expect(await Promise.all(runs)).toEqual(['hellohellohello', 'hellohellohello']);
      const attributed = records.map(({ scope, domain }) => [scope, domain]);
      const expected = ['t1', 't2'].flatMap((taskId) =>
        [1, 2, 3].map(() => [
          { taskId, correlationId: `c-${taskId}`, tags: { workflow_id: taskId }, skill: 's' },
          `${taskId}.example.test`,
        ]),
      );
      const inOrder = (rows: unknown[]) => rows.map((row) => JSON.stringify(row)).toSorted();
      expect(inOrder(attributed)).toEqual(inOrder(expected));
    });

    it('lose their egress when they exit', async () => {
      const { proxy } = await aProxy();
      const { tool } = isolatedScript({ content: 'echo "$HTTP_PROXY"', level, proxy });
      const address = await tool.run({}, aRun());
      const { username, password } = new URL(address);
      const { status } = await rawRequest(
        `http://127.0.0.1:${proxy.port}`,
        `CONNECT a.example.test:443 HTTP/1.1\r\nProxy-Authorization: Basic ${btoa(`${username}:${password}`)}\r\n\r\n`,
      );
      expect(status).toBe(407);
    });
  },
);
