import { expect, it } from 'vitest';
import { appScopes } from '../../../../packages/fake-slack/workspace/app-scopes.ts';
import { botScopes } from '../../../../src/cli/slack/print-manifest.ts';

it('the app of the fake Slack has the scopes of the manifest', () => {
  expect(appScopes).toEqual(botScopes());
});
