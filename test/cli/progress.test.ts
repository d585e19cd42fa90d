import { Writable } from 'node:stream';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Output } from '../../src/cli/output.ts';
import { showProgress } from '../../src/cli/progress.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function outputTo(isTTY: boolean): { output: Output; written: string[] } {
  const written: string[] = [];
  const stderr = Object.assign(
    new Writable({
      write(chunk, _encoding, done) {
        written.push(String(chunk));
        done();
      },
    }),
    { isTTY },
  );
  const flags = { env: {}, isJson: false, isDebug: false, mayColour: true };
  return { output: new Output({ stdout: stderr, stderr, ...flags }), written };
}

it('progress shows a wait from the first second, and clears the line', () => {
  const { output, written } = outputTo(true);
  const stop = showProgress(output, 'waiting');
  vi.advanceTimersByTime(999);
  expect(written).toEqual([]);
  vi.advanceTimersByTime(1_001);
  stop();
  vi.advanceTimersByTime(5_000);
  expect(written).toEqual(['\r\u001b[Kwaiting (1s)', '\r\u001b[Kwaiting (2s)', '\r\u001b[K']);
});

it('progress shows nothing for a short wait, nor without a terminal', () => {
  const terminal = outputTo(true);
  showProgress(terminal.output, 'waiting')();
  const pipe = outputTo(false);
  const stop = showProgress(pipe.output, 'waiting');
  vi.advanceTimersByTime(5_000);
  stop();
  expect([terminal.written, pipe.written]).toEqual([[], []]);
});
