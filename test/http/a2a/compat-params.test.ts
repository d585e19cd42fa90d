import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compatParams } from '../../../src/http/a2a/compat-params.ts';

it('a send with a configuration waits by default', () => {
  const message = { parts: [] };
  expect(compatParams({ message, configuration: {} }, true)).toEqual({
    message,
    configuration: { blocking: true },
  });
  for (const blocking of [true, false]) {
    const sent = { message, configuration: { blocking } };
    expect(compatParams(sent, true)).toEqual(sent);
  }
  expect(compatParams({ message }, true)).toEqual({ message });
  expect(compatParams({ message, configuration: {} }, false)).toEqual({
    message,
    configuration: {},
  });
});

it.each([
  'pushNotificationConfig',
  'pushNotification',
  'push_notification',
  'push_notification_config',
])('the first scheme of %s is kept, alone and in a configuration', (name) => {
  const config = (schemes: string[]) => ({
    [name]: { url: 'u', authentication: { schemes, credentials: 'c' } },
  });
  expect(compatParams(config(['A', 'B', 'C']), false)).toEqual(config(['A']));
  const sent = { configuration: { ...config(['A', 'B']), blocking: false } };
  const kept = { configuration: { ...config(['A']), blocking: false } };
  expect(compatParams(sent, true)).toEqual(kept);
});

it('other parameters stay unchanged', () => {
  const message = fc.jsonValue({ maxDepth: 4 });
  fc.assert(
    fc.property(message, (said) => {
      const sent = { message: said, metadata: { authentication: { schemes: ['A', 'B'] } } };
      expect(compatParams(sent, true)).toEqual(sent);
    }),
  );
  for (const sent of [undefined, null, 5, 'x', []]) expect(compatParams(sent, true)).toBe(sent);
});
