import type { ReadInclude } from '../../src/actors/config/included-policy.ts';

/** Finds an included policy without rules wherever one is named. */
export const anEmptyPolicy: ReadInclude = () => ({
  ok: true,
  text: 'security: {}',
  file: 'shared.yaml',
  path: 'shared.yaml',
});
