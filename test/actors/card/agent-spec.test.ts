import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  agentSpecPath,
  readAgentSpec,
  writeAgentSpec,
} from '../../../src/actors/card/agent-spec.ts';

const nothing = { name: '', version: '', description: '', skills: [], securitySchemes: {} };

function aFolder(content?: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-spec-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  if (content !== undefined) {
    mkdirSync(dirname(join(folder, agentSpecPath)), { recursive: true });
    writeFileSync(join(folder, agentSpecPath), content);
  }
  return folder;
}

describe('the build spec', () => {
  it('is empty when the file is missing', () => {
    expect(readAgentSpec(aFolder())).toStrictEqual({ spec: nothing, warning: null });
  });

  it('is read without fields that do not belong on a card', () => {
    const content = {
      name: 'refunds',
      version: '2.0.0',
      canary: 'x',
      a2a: {
        skills: [
          { id: 'a', canary: 'x' },
          { id: 'b', name: 'B', description: 'Bs.', tags: ['t'] },
        ],
        security_schemes: { mesh: { type: 'mutualTLS' } },
      },
    };
    expect(readAgentSpec(aFolder(JSON.stringify(content)))).toStrictEqual({
      spec: {
        name: 'refunds',
        version: '2.0.0',
        description: '',
        skills: [
          { id: 'a', name: 'a', description: '', tags: ['skill'] },
          { id: 'b', name: 'B', description: 'Bs.', tags: ['t'] },
        ],
        securitySchemes: { mesh: { type: 'mutualTLS' } },
      },
      warning: null,
    });
  });

  it.each([
    ['{"name": ', 'it is not JSON'],
    ['[]', 'the whole is not what it should be'],
    ['{"a2a": {"skills": [{"id": ""}]}}', 'a2a.skills.0.id is not what it should be'],
    ['{"version": 2}', 'version is not what it should be'],
  ])('%s is ignored with a warning', (content, reason) => {
    expect(readAgentSpec(aFolder(content))).toStrictEqual({
      spec: nothing,
      warning: `.service/build/agent-spec.json is ignored: ${reason}; write it anew with holdpoint build`,
    });
  });

  it('is written in one step and leaves no draft', async () => {
    const folder = aFolder('old');
    const path = await writeAgentSpec(folder, 'new\n');
    expect(path).toBe(join(folder, agentSpecPath));
    expect(readdirSync(dirname(path))).toEqual(['agent-spec.json']);
    expect(readFileSync(path, 'utf8')).toBe('new\n');
  });
});
