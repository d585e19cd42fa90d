import { expect, onTestFinished, vi } from 'vitest';
import {
  createAuditSinks,
  type SinkSettings,
} from '../../../../src/actors/records/sinks/audit-sinks.ts';
import { sinkPause } from '../../../../src/machines/audit/sink-machine.ts';
import { ManualClock } from '../../../helpers/manual-clock.ts';
import { patient } from '../../../helpers/patient.ts';

/** A sink of an audit log whose clock does not advance, and its reports; closed after the test. */
export function openSink(settings: SinkSettings) {
  const clock = new ManualClock(0);
  const said: unknown[] = [];
  const quiet = () => undefined;
  const sinks = createAuditSinks({
    sinks: [settings],
    directory: '.',
    env: {},
    clock,
    log: { info: quiet, warn: quiet, error: quiet },
    record: ({ fields }) => void said.push(fields?.['error'] ?? fields?.['state']),
  });
  const close = async () => {
    const closing = sinks.close();
    clock.advance(2_000);
    await closing;
  };
  onTestFinished(close);
  let failures = 0;
  let isUp = true;
  let lines = 0;
  return {
    close,
    /** Commits a line, and returns it. */
    commit: () => {
      lines += 1;
      sinks.offer(Buffer.from(`${lines}\n`));
      return `${lines}\n`;
    },
    /** Every line has arrived. */
    delivered: async () => {
      await vi.waitFor(() => expect(sinks.stats()[0]?.delivered).toBe(lines), patient);
      failures = 0;
    },
    /** Every event is reported once. */
    isSaidUp: async () => {
      await vi.waitFor(() => expect(said).toEqual(isUp ? [] : ['up']), patient);
      said.length = 0;
      isUp = true;
    },
    isSaidDown: async (error: string) => {
      await vi.waitFor(() => expect(said).toEqual(isUp ? [error] : []), patient);
      said.length = 0;
      isUp = false;
      failures += 1;
    },
    wait: () => {
      clock.advance(sinkPause(failures) - 1);
      expect(sinks.stats()[0]?.state).toBe('backoff');
      clock.advance(1);
    },
  };
}
