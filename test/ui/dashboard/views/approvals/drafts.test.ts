import { expect, it } from 'vitest';
import { Drafts } from '../../../../../src/ui/dashboard/views/approvals/drafts.ts';

function aStore() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  };
}

it('a reason is kept by call and person, until it is sent', () => {
  const store = aStore();
  const ann = new Drafts('ann@example.com', store);
  ann.write('ops d-1', 'first ask ops');
  expect(new Drafts('ann@example.com', store).read('ops d-1')).toBe('first ask ops');
  expect(ann.read('ops d-2')).toBe('');
  expect(new Drafts('bob@example.com', store).read('ops d-1')).toBe('');
  ann.write('ops d-1', '');
  expect(store.kept.size).toBe(0);
});

it('a reason stays in its field when the browser stores nothing', () => {
  const full = {
    ...aStore(),
    setItem: () => {
      throw new Error('the quota is exceeded');
    },
  };
  expect(() => new Drafts('', full).write('ops d-1', 'why')).not.toThrow();
});
