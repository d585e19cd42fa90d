import { chmodSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { keptInspectorToken } from '../../../src/actors/process/serve-file.ts';
import { AgentFolder } from '../../helpers/agent-folder.ts';

it('the token of the inspector is kept over restarts, and replaced if others can read it', () => {
  const folder = new AgentFolder({});
  onTestFinished(() => folder.remove());
  const path = join(folder.path, 'inspector.token');
  const token = keptInspectorToken(folder.path);
  expect([keptInspectorToken(folder.path), statSync(path).mode & 0o777]).toEqual([token, 0o600]);
  chmodSync(path, 0o644);
  const next = keptInspectorToken(folder.path);
  expect([next === token, statSync(path).mode & 0o777]).toEqual([false, 0o600]);
});
