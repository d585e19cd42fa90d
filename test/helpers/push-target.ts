import type { PushTarget } from '../../src/actors/ports/push.ts';

/** A receiver of push notifications of `t-1` with all that one may have. */
export function aPushTarget(overrides: Partial<PushTarget> = {}): PushTarget {
  return {
    taskId: 't-1',
    id: 'a',
    url: 'https://hook.example.test/a2a',
    token: 'canary-token',
    authentication: { scheme: 'Bearer', credentials: 'canary-credentials' },
    version: '1.0',
    ...overrides,
  };
}
