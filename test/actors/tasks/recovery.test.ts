import { expect, it } from 'vitest';
import { type RecoveryPorts, recover } from '../../../src/actors/tasks/recovery.ts';

it('rules on waiting calls at the same time when the service starts, as one server may be silent', async () => {
  const ids = Array.from({ length: 200 }, (_, at) => `t-${at}`);
  const silent = Promise.withResolvers<void>();
  const reviewed: string[] = [];
  const review = async (id: string) => {
    if (id === 't-0') await silent.promise;
    reviewed.push(id);
    if (reviewed.length === 199) silent.resolve();
  };
  const rows = { strangers: async () => [], parked: async () => ids, working: async () => [] };
  const ports = {
    tasks: { review, start: () => undefined },
    store: { rows, releases: { keep: async () => undefined } },
    ...{ shared: null, onRestart: 'resume', release: '1', log: {} },
  };
  await recover(ports as unknown as RecoveryPorts);
  expect(reviewed).toEqual([...ids.slice(1), 't-0']);
});
