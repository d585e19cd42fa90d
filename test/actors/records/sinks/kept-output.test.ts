import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { stdoutTarget } from '../../../../src/actors/records/sinks/stdout-target.ts';

const { signal } = new AbortController();

/** A target over outputs that can be opened again, unlike that of a process. */
function openTarget() {
  const opened: Writable[] = [];
  const written: string[] = [];
  const target = stdoutTarget(() => {
    const write = (chunk: Buffer, _: unknown, done: () => void) => {
      written.push(String(chunk));
      done();
    };
    opened.push(new Writable({ write }));
    return opened.at(-1)!;
  });
  return { target, opened, written };
}

describe('the output of a process as a sink', () => {
  it('is opened at the first connection, and never closed', async () => {
    const { target, opened, written } = openTarget();
    expect(opened).toEqual([]);
    target.disconnect();
    for (const line of ['a\n', 'b\n']) {
      await target.connect(signal);
      await target.deliver([Buffer.from(line)], signal);
      target.disconnect();
    }
    expect(opened.map(({ destroyed }) => destroyed)).toEqual([false]);
    expect(written).toEqual(['a\n', 'b\n']);
  });

  it('is opened again after a failure, which ends no process', async () => {
    const { target, opened, written } = openTarget();
    await target.connect(signal);
    opened[0]?.destroy(new Error('nobody reads'));
    await target.hungUp();
    target.disconnect();
    await target.connect(signal);
    await target.deliver([Buffer.from('a\n')], signal);
    expect([opened.length, written]).toEqual([2, ['a\n']]);
  });

  it('may fail repeatedly', async () => {
    const { target, opened } = openTarget();
    await target.connect(signal);
    for (const failure of ['once', 'again']) opened[0]?.emit('error', new Error(failure));
    await target.hungUp();
    target.disconnect();
    expect(opened.map(({ destroyed }) => destroyed)).toEqual([false]);
  });
});
