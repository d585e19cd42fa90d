import { expect, it } from 'vitest';
import { unfilledPort } from '../../src/machines/unfilled-port.ts';

it('a port that nobody filled fails, and says so', async () => {
  await expect(unfilledPort()).rejects.toEqual(new Error('the port is not filled'));
});
