import { expect, it, vi } from 'vitest';
import type { Log } from '../../../src/actors/ports/log.ts';
import { lateLog } from '../../../src/dashboard/server/late-log.ts';
import { patient } from '../../helpers/patient.ts';

it('the log is loaded once, at its first line, and keeps the order', async () => {
  const said: unknown[] = [];
  const level = (name: string) => (fields: object, message: string) =>
    void said.push([name, fields, message]);
  const log: Log = { info: level('info'), warn: level('warn'), error: level('error') };
  const load = vi.fn(() => Promise.resolve(log));
  const late = lateLog(load);
  expect(load).not.toHaveBeenCalled();
  late.warn({ at: 1 }, 'one');
  late.error({}, 'two');
  late.info({}, 'three');
  await vi.waitUntil(() => said.length === 3, patient);
  expect(said).toEqual([
    ['warn', { at: 1 }, 'one'],
    ['error', {}, 'two'],
    ['info', {}, 'three'],
  ]);
  expect(load).toHaveBeenCalledTimes(1);
});
