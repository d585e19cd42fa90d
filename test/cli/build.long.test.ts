import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { cleanUp, holdpoint, refundAgent } from './holdpoint.ts';

afterAll(cleanUp);

const spec = '.service/build/agent-spec.json';

describe.concurrent('build', () => {
  it('writes the skills of the card, with the same bytes each time', async () => {
    const dir = await refundAgent();
    await mkdir(join(dir, 'skills'));
    await writeFile(join(dir, 'skills/audits.md'), '---\nname: audits\ndescription: Looks.\n---\n');
    const plain = await holdpoint(['build', '--dir', dir]);
    expect(plain).toEqual({
      code: 0,
      signal: null,
      stderr: '',
      stdout: `wrote ${join(dir, spec)} with 2 skills\n`,
    });
    const first = await readFile(join(dir, spec), 'utf8');
    expect(JSON.parse(first)).toMatchObject({
      name: 'refunds',
      version: '1.0.0',
      a2a: {
        skills: [
          { id: 'audits', name: 'audits', description: 'Looks.', tags: ['skill'] },
          { id: 'refunds', name: 'refunds' },
        ],
      },
    });
    await rm(join(dir, '.service'), { recursive: true });
    const json = await holdpoint(['build', '--dir', dir, '--json']);
    expect(await readFile(join(dir, spec), 'utf8')).toBe(first);
    expect(JSON.parse(json.stdout)).toEqual({
      path: join(dir, spec),
      skills: 2,
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
  });

  it('writes nothing with errors, and exits with 5', async () => {
    const dir = await refundAgent();
    await writeFile(join(dir, 'SKILL.md'), '---\nname: [\n---\n');
    const { code, stderr, stdout } = await holdpoint(['build', '--dir', dir, '--json']);
    expect(code).toBe(5);
    expect(stderr).toMatch(/^SKILL\.md:2:8: /);
    expect(JSON.parse(stdout)).toMatchObject({ valid: false, error: { code: 'config_invalid' } });
    await expect(readFile(join(dir, spec))).rejects.toThrow('ENOENT');
  });

  it('states the remedy where it may not write', async () => {
    const dir = await refundAgent();
    await mkdir(join(dir, '.service'), { recursive: true });
    await writeFile(join(dir, '.service/build'), 'a file in the way');
    const { code, stdout } = await holdpoint(['build', '--dir', dir, '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      error: {
        code: 'cannot_write',
        message: 'the build spec cannot be written (EEXIST)',
        hint: `check that you may write to ${dir}`,
      },
    });
  });
});
