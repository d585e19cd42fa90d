import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { holdpointHere } from './command-here.ts';
import { cleanUp, holdpoint } from './holdpoint.ts';

afterAll(cleanUp);

describe('schema', () => {
  it('prints the JSON Schema of service.yaml, in any folder', async () => {
    const { code, stdout, stderr } = await holdpoint(['schema'], { cwd: '/' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const validate = new Ajv({ strict: true }).compile(JSON.parse(stdout) as object);
    expect(validate({ agent_id: 'refunds' })).toBe(true);
    expect(validate({ agent_id: 'refunds', security: { defr: {} } })).toBe(false);
  });

  it('prints it as one document with --json', async () => {
    const [plain, json] = await Promise.all([
      holdpointHere(['schema']),
      holdpointHere(['schema', '--json']),
    ]);
    expect(json.stdout.trim().split('\n')).toHaveLength(1);
    expect(JSON.parse(json.stdout)).toEqual(JSON.parse(plain.stdout));
  });

  it('prints the schema of another file', async () => {
    const { stdout } = await holdpointHere(['schema', 'people.yaml']);
    const validate = new Ajv({ strict: true }).compile(JSON.parse(stdout) as object);
    expect(validate({ groups: { finance: ['ann@example.com'] } })).toBe(true);
    expect(validate({ groups: { finance: ['ann'] } })).toBe(false);
  });

  it('names the files that have a schema', async () => {
    expect(await holdpointHere(['schema', '../secret.yaml'])).toEqual({
      ...{ code: 2, signal: null, stdout: '' },
      stderr:
        'error: there is no schema of ../secret.yaml; name one of service.yaml, people.yaml, dashboard.yaml, slack-config.yaml, telegram-config.yaml, webhook-config.yaml, email-config.yaml, teams-config.yaml\n',
    });
  });
});

describe('schema --write', () => {
  function folderWith(files: Record<string, string>): string {
    const folder = mkdtempSync(join(tmpdir(), 'schema-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    return folder;
  }

  it('writes the schemas of the files of an agent, and names the missing line of a file', async () => {
    const named = '# yaml-language-server: $schema=.service/service.schema.json\nagent_id: a\n';
    const dir = folderWith({ 'service.yaml': named, 'people.yaml': 'zone: UTC\n' });
    expect(await holdpointHere(['schema', '--write', '--dir', dir])).toEqual({
      ...{ code: 0, signal: null },
      stdout: `wrote ${dir}/.service/service.schema.json\nwrote ${dir}/.service/people.schema.json\n`,
      stderr:
        'begin people.yaml with this line, by which an editor finds it: # yaml-language-server: $schema=.service/people.schema.json\n',
    });
    const { stdout } = await holdpointHere(['schema']);
    expect(readFileSync(join(dir, '.service/service.schema.json'), 'utf8')).toBe(stdout);
    expect(readFileSync(join(dir, 'service.yaml'), 'utf8')).toBe(named);
  });

  it('replaces the schema of an older release', async () => {
    const dir = folderWith({ 'service.yaml': 'agent_id: a\n' });
    mkdirSync(join(dir, '.service'));
    writeFileSync(join(dir, '.service/service.schema.json'), '{}');
    const { code, stdout } = await holdpointHere(['schema', '--write', '--dir', dir, '--json']);
    expect([code, JSON.parse(stdout)]).toEqual([
      0,
      { files: [join(dir, '.service/service.schema.json')] },
    ]);
    expect(readFileSync(join(dir, '.service/service.schema.json'), 'utf8')).toContain('agent_id');
  });

  it('is required by validate after an update', async () => {
    const dir = folderWith({ 'service.yaml': 'agent_id: a\n' });
    await holdpointHere(['schema', '--write', '--dir', dir]);
    expect((await holdpointHere(['validate', '--dir', dir])).stderr).toBe('');
    writeFileSync(join(dir, '.service/service.schema.json'), '{}');
    expect((await holdpointHere(['validate', '--dir', dir])).stderr).toBe(
      `.service/service.schema.json, by which an editor checks the file, is of another release; write it anew with holdpoint schema --write --dir ${dir}\n`,
    );
  });

  it('reports a read-only folder', async () => {
    const dir = folderWith({ 'service.yaml': 'agent_id: a\n', '.service': 'a file' });
    expect(await holdpointHere(['schema', '--write', '--dir', dir])).toEqual({
      ...{ code: 1, signal: null, stdout: '' },
      stderr: `error: the schema cannot be written (EEXIST); check that you may write to ${dir}\n`,
    });
  });

  it('reports a missing folder', async () => {
    expect(await holdpointHere(['schema', '--write', '--dir', '/nowhere'])).toMatchObject({
      code: 3,
      stderr: 'error: there is no folder /nowhere; name the folder of an agent with --dir\n',
    });
  });
});
