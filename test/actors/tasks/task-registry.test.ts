import { expect, it, onTestFinished, vi } from 'vitest';
import { registryMachine } from '../../../src/machines/registry/registry-machine.ts';
import { ends, playing } from '../../helpers/system-story.ts';
import { openSystem } from '../../helpers/test-system.ts';

it('the registry queries no chart by an event type with a task id, which XState would keep', async () => {
  const { system } = await openSystem();
  const next = vi.spyOn(Object.getPrototypeOf(registryMachine.root), 'next');
  onTestFinished(() => next.mockRestore());
  const id = await system.open(playing([{ say: 'ok' }]));
  expect(await ends(system, id)).toMatchObject({ state: 'completed' });
  const types = next.mock.calls.map(([, event]) => (event as { type: string }).type);
  expect(types.length).toBeGreaterThan(0);
  expect(types.filter((type) => type.includes(id))).toEqual([]);
});
