import { expect, it } from 'vitest';
import { unfilledPort } from '../../src/machines/unfilled-port.ts';

it('a port that is not connected fails with a report', async () => {
  await expect(unfilledPort()).rejects.toEqual(new Error('the port is not filled'));
});
