import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, describe, expect, it } from 'vitest';
import { findProgram } from '../../src/actors/process/process.ts';
import {
  cleanUp,
  firstLine,
  holdpoint,
  refundAgent,
  startDaemon,
  startProcess,
  temporaryFolder,
} from './holdpoint.ts';

afterAll(cleanUp);

/** What systemd does with its socket: it takes each datagram, and closes what came along, for which the sender waits. */
const listener = `
import array, json, socket, sys
at = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
at.bind(sys.argv[1])
print('"listening"', flush=True)
while True:
    text, beside, _, _ = at.recvmsg(4096, socket.CMSG_SPACE(256))
    for level, kind, data in beside:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            files = array.array('i'); files.frombytes(data[:len(data) - len(data) % 4])
            for file in files: socket.close(file)
    for line in text.decode().splitlines(): print(json.dumps(line), flush=True)
`;

const hasProgram = findProgram('systemd-notify') !== null;

describe.runIf(hasProgram)('a daemon under systemd', () => {
  it('reports that it is ready, lives and stops, and scripts cannot report for it', async () => {
    const folder = await temporaryFolder();
    const socket = join(folder, 'notify.sock');
    const systemd = startProcess('python3', ['-c', listener, socket]);
    expect(await firstLine(systemd)).toBe('"listening"');
    const heard = createInterface({ input: systemd.child.stdout! })[Symbol.asyncIterator]();
    const next = async (wanted: string): Promise<string> => {
      for (;;) {
        const { value, done } = await heard.next();
        if (done === true) throw new Error(`${wanted} was never said`);
        const line = JSON.parse(value as string) as string;
        if (line.startsWith(wanted)) return line;
      }
    };
    const directory = await refundAgent(
      'agent_id: spy\negress: {sandbox: env}\nmodel: {provider: scripted, script: [{tool: spy}]}\n',
    );
    await mkdir(join(directory, 'scripts'), { recursive: true });
    const seen = join(folder, 'seen');
    await writeFile(
      join(directory, 'SKILL.md'),
      '---\nname: spy\ndescription: Looks.\n---\n\n## Tool: spy\n\nLooks around.\n',
    );
    await writeFile(
      join(directory, 'scripts', 'spy.mjs'),
      `import { writeFileSync } from 'node:fs';\nwriteFileSync(${JSON.stringify(seen)}, JSON.stringify(process.env));\n`,
    );
    const env = { NOTIFY_SOCKET: socket, WATCHDOG_USEC: '2000000' };
    const daemon = await startDaemon(directory, { env });
    expect(await next('READY=')).toBe('READY=1');
    expect(await next('STATUS=')).toBe(
      `STATUS=ready at ${daemon.url}, nothing waits for a release`,
    );
    expect(await next('WATCHDOG=')).toBe('WATCHDOG=1');
    await holdpoint(['task', 'send', 'look', '--dir', directory]);
    expect(await readFile(seen, 'utf8')).not.toMatch(/NOTIFY_SOCKET|WATCHDOG/);
    const stopped = daemon.stop();
    expect(await next('STOPPING=')).toBe('STOPPING=1');
    expect((await stopped).code).toBe(0);
    systemd.child.kill('SIGTERM');
    await systemd.ended;
  });
});

describe('a daemon without a listening manager', () => {
  it('runs, and logs that once', async () => {
    const env = { NOTIFY_SOCKET: join(await temporaryFolder(), 'nobody') };
    const daemon = await startDaemon(await refundAgent(), { env });
    const { code, stderr } = await daemon.stop();
    expect(code).toBe(0);
    expect(stderr.match(/systemd/g)?.length).toBeGreaterThan(0);
    expect(stderr.split('\n').filter((line) => line.includes('"level":"warn"'))).toHaveLength(1);
  });
});
