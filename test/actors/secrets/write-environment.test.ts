import { chmodSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEnvFile, writeEnvironment } from '../../../src/actors/secrets/secrets.ts';
import { agentFolder } from '../tools/skills/agent-folder.ts';

const modeOf = (path: string) => statSync(path).mode & 0o777;
const textOf = (path: string) => readFileSync(path, 'utf8');

describe('variables in an .env file', () => {
  it('are read back, in a file and a folder for their owner only', async () => {
    const umask = process.umask(0);
    try {
      const folder = join(agentFolder({}), '.service');
      const path = await writeEnvironment(folder, { SHOP_KEY: 'k-1', SHOP_URL: 'https://a/b?c=d' });
      expect(Object.fromEntries(readEnvFile(path).variables)).toEqual({
        SHOP_KEY: 'k-1',
        SHOP_URL: 'https://a/b?c=d',
      });
      expect([modeOf(path), modeOf(folder)]).toEqual([0o600, 0o700]);
      expect(textOf(join(folder, '.gitignore'))).toBe('.env\n');
    } finally {
      process.umask(umask);
    }
  });

  it('keep comments, other variables and the ignore file, and restrict the file', async () => {
    const before = '# shop\nexport A=1\nB="two\nlines"\nC=3 # the third\n';
    const folder = agentFolder({ '.env': before, '.gitignore': 'x' });
    chmodSync(join(folder, '.env'), 0o644);
    const path = await writeEnvironment(folder, { B: 'x', A: 'b c', D: '4' });
    expect(textOf(path)).toBe("# shop\nA='b c'\nB=x\nC=3 # the third\nD=4\n");
    expect(modeOf(path)).toBe(0o600);
    expect(textOf(join(folder, '.gitignore'))).toBe('x\n.env\n');
  });

  it('remain one variable, with any line breaks', async () => {
    const folder = agentFolder({});
    const path = await writeEnvironment(folder, { A: 'a\nB=c', C: "it's\n# D=1" });
    expect(Object.fromEntries(readEnvFile(path).variables)).toEqual({
      A: 'a\nB=c',
      C: "it's\n# D=1",
    });
  });

  it.each(['NODE_OPTIONS', 'LD_PRELOAD', 'PATH', 'BASH_ENV', 'shop_key', '1A', 'A-B', '', 'A\nB'])(
    'may not be named %j',
    async (name) => {
      const folder = agentFolder({});
      const failure = await writeEnvironment(folder, { [name]: 'canary' }).catch(String);
      expect(failure).toContain('Error: ');
      expect(failure).not.toContain('canary');
      expect(statSync(join(folder, '.env'), { throwIfNoEntry: false })).toBeUndefined();
    },
  );

  it('are refused without their value when no file can contain them', async () => {
    const folder = agentFolder({});
    for (const value of ['canary\0', `canary'"\``]) {
      const failure = await writeEnvironment(folder, { GOOD: 'g', A: value }).catch(String);
      expect(failure).toMatch(/^Error: the value of A cannot be stored/);
      expect(failure).not.toContain('canary');
    }
    expect(statSync(join(folder, '.env'), { throwIfNoEntry: false })).toBeUndefined();
  });

  it('are not written through a link', async () => {
    const elsewhere = join(agentFolder({ env: 'A=1\n' }), 'env');
    const folder = agentFolder({});
    symlinkSync(elsewhere, join(folder, '.env'));
    await expect(writeEnvironment(folder, { A: '2' })).rejects.toMatchObject({
      code: 'secrets_unusable',
    });
    expect(textOf(elsewhere)).toBe('A=1\n');
  });

  it('are all stored by concurrent writers', async () => {
    const folder = agentFolder({});
    const names = ['A', 'B', 'C', 'D', 'E'];
    await Promise.all(names.map((name) => writeEnvironment(folder, { [name]: name })));
    const { variables } = readEnvFile(join(folder, '.env'));
    expect([...variables.keys()].toSorted()).toEqual(names);
  });

  it('are read back exactly, or refused, with any earlier content', async () => {
    const name = fc.stringMatching(/^[A-C]{1,2}$/);
    const value = fc.oneof(
      fc.string({ maxLength: 20 }),
      fc.stringMatching(/^[a'"`\\n\n$# =]{0,12}$/),
      fc.string({ unit: 'binary', maxLength: 8 }),
    );
    const line = fc.constantFrom('A=1', '#A=2', 'B="x', "C='y' # z", '', 'BB=`q`', '"', 'A', '=');
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 4 }),
        fc.dictionary(name, value, { maxKeys: 3 }),
        async (lines, wanted) => {
          const folder = agentFolder({ '.env': lines.join('\n') });
          const before = readEnvFile(join(folder, '.env')).variables;
          const variables = { ...wanted };
          const isWritten = await writeEnvironment(folder, variables).then(
            () => true,
            (error: unknown) => {
              const code = Reflect.get(Object(error), 'code') as string;
              expect(['variable_refused', 'secrets_unusable']).toContain(code);
              return false;
            },
          );
          const after = Object.fromEntries(readEnvFile(join(folder, '.env')).variables);
          const known = Object.fromEntries(before);
          expect(after).toEqual(isWritten ? { ...known, ...variables } : known);
        },
      ),
      { numRuns: 200 },
    );
  });
});
