import { expect, it } from 'vitest';
import { botScopes } from '../../../src/cli/slack/manifest.ts';
import { appScopes } from '../../../src/fake-slack/workspace/app-scopes.ts';

it('gives the app of the fake Slack the scopes of the manifest', () => {
  expect(appScopes).toEqual(botScopes());
});
