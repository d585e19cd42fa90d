import { execFileSync } from 'node:child_process';
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scanFolders } from '../../../src/actors/workspace/scan-folders.ts';
import { temporaryFolder } from '../../helpers/test-system.ts';

function workspace(...agents: string[]): string {
  const root = realpathSync(temporaryFolder());
  for (const name of agents) {
    mkdirSync(join(root, name), { recursive: true });
    writeFileSync(join(root, name, 'service.yaml'), 'agent_id: till\n');
  }
  return root;
}

describe('scanFolders', () => {
  it('finds agents in the workspace itself and one level down, and no others', async () => {
    const root = workspace('.', 'b', 'a', '.hidden', 'node_modules', 'a/deeper');
    mkdirSync(join(root, 'empty'));
    expect(await scanFolders(root)).toEqual([root, join(root, 'a'), join(root, 'b')]);
  });

  it('finds none in an empty workspace, and none in a missing folder', async () => {
    const root = workspace();
    expect(await scanFolders(root)).toEqual([]);
    expect(await scanFolders(join(root, 'nowhere'))).toEqual([]);
  });

  it('follows no link out of the workspace, and waits for no pipe', async () => {
    const elsewhere = workspace('till');
    const root = workspace('own');
    symlinkSync(join(elsewhere, 'till'), join(root, 'linked'));
    mkdirSync(join(root, 'file'));
    symlinkSync(join(elsewhere, 'till/service.yaml'), join(root, 'file/service.yaml'));
    mkdirSync(join(root, 'pipe'));
    execFileSync('mkfifo', [join(root, 'pipe/service.yaml')]);
    expect(await scanFolders(root)).toEqual([join(root, 'own')]);
  });

  it('shows 200 agents at most', async () => {
    const root = workspace(...Array.from({ length: 210 }, (_, index) => `agent-${index}`));
    expect(await scanFolders(root)).toHaveLength(200);
  });
});
