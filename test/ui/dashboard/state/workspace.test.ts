import { expect, it } from 'vitest';
import { createWorkspace } from '../../../../src/ui/dashboard/state/workspace.ts';

it('a progress of the sign-in is reported after its event, and after missed events', () => {
  const workspace = createWorkspace();
  let said = 0;
  workspace.on('signInsMoved', () => (said += 1));
  workspace.trigger.signInsMoved();
  expect(said).toBe(1);
  const about = { directory: '/w', version: '0', token_required: false };
  workspace.trigger.read({ about, agents: [], deferrals: [], unasked: [] });
  expect(said).toBe(2);
  workspace.trigger.removed({ id: 'till' });
  expect(said).toBe(2);
});
