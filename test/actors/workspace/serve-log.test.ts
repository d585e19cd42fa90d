import {
  closeSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  crashOf,
  lastFailure,
  markStart,
  openServeLog,
  tailServeLog,
} from '../../../src/actors/workspace/serve-log.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

function folder(): string {
  const directory = temporaryFolder();
  mkdirSync(join(directory, '.service'));
  return directory;
}

/** Notes one process after the other, each with what it said. */
function logged(...processes: [pid: number, ...lines: string[]][]): string {
  const directory = folder();
  const file = openServeLog(directory);
  for (const [pid, ...lines] of processes) {
    markStart(file, pid);
    for (const line of lines) writeSync(file, `${line}\n`);
  }
  closeSync(file);
  return directory;
}

const ready = 'holdpoint: till is ready at http://127.0.0.1:8080';
const noise = '{"level":"error","msg":"http: request failed"}';

describe('the log of an agent in the background', () => {
  it('contains why the last process exited, without colours and terminal controls', () => {
    const problem = '\u001b[31mservice.yaml:2:1: unknown key\u001b[0m';
    const directory = logged([1, ready], [2, noise, problem, 'error: 1 problem\u202e']);
    const told = 'service.yaml:2:1: unknown key\nerror: 1 problem\uFFFD';
    expect(lastFailure(directory)).toBe(told);
    expect(lastFailure(directory, 2)).toBe(told);
    expect(lastFailure(directory, 1)).toBeNull();
  });

  it('contains no reason after a clean or a silent exit', () => {
    expect(lastFailure(logged([1, 'error: broken'], [2, noise, ready]))).toBeNull();
    expect(lastFailure(folder())).toBeNull();
  });

  it('reports an unrequested exit, also a silent one', () => {
    const directory = logged([1, 'error: broken'], [2, noise, ready]);
    expect(crashOf(directory, 2)).toBe(
      'the process ended without a word: it was killed, or the machine was restarted; start the agent again',
    );
    expect(crashOf(directory, 1)).toBeNull();
    expect(crashOf(logged([1, ready, 'error: broken']), 1)).toBe('broken');
    expect(crashOf(folder(), 1)).toBeNull();
  });

  it('contains a defect that the daemon logged', () => {
    const line = {
      ...{ level: 'error', msg: 'holdpoint: uncaughtException; the agent stops' },
      error: { message: 'no memory', stack: 'at …' },
    };
    expect(lastFailure(logged([1, ready, JSON.stringify(line)]))).toBe(
      'holdpoint: uncaughtException; the agent stops: no memory',
    );
  });

  it('is shown up to a limit', () => {
    const directory = logged([1, ...Array<string>(4_000).fill('x'.repeat(100))]);
    expect(lastFailure(directory)?.length).toBeLessThanOrEqual(4_096);
    expect(tailServeLog(directory, 3)).toEqual(Array<string>(3).fill('x'.repeat(100)));
  });

  it('starts again at 10 MiB and keeps the last one', () => {
    const directory = folder();
    const path = join(directory, '.service/serve.log');
    writeFileSync(path, Buffer.alloc(10 * 1024 * 1024, 'x'));
    closeSync(openServeLog(directory));
    expect([statSync(path).size, statSync(path).mode & 0o777]).toEqual([0, 0o600]);
    expect(readFileSync(`${path}.1`).length).toBe(10 * 1024 * 1024);
  });

  it('is not read through a link out of the folder', () => {
    const directory = folder();
    const secret = join(temporaryFolder(), 'secret');
    writeFileSync(secret, 'not for anybody\n');
    symlinkSync(secret, join(directory, '.service/serve.log'));
    expect(tailServeLog(directory, 10)).toEqual([]);
    expect(() => openServeLog(directory)).toThrow('ELOOP');
  });
});
