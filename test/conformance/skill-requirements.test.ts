import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { launchAgent, startInFolder, textOf } from '../helpers/test-agent.ts';
import { outwardFolder } from './egress-agent.ts';

/** A folder whose skill requires this, and whose tool `tell` says which of the variables it was given. */
function folderThatRequires(requires: object) {
  const folder = outwardFolder({ builtin_tools: [] });
  const metadata = JSON.stringify({ service: { requires } });
  writeFileSync(
    join(folder.path, 'SKILL.md'),
    `---\nname: shop\ndescription: Sells.\nmetadata: ${metadata}\n---\n\n## Tool: tell\n\nTells.\n`,
  );
  const tell = 'env | grep ^SHOP_ | sort | tr "\\n" " "';
  writeFileSync(join(folder.path, 'scripts/tell.sh'), tell);
  return folder;
}

const tell = [{ tool: 'tell', args: {} }, { say: '{result}' }];

describe('the requirements of a skill', () => {
  it.each([
    [
      'bins',
      { bins: ['sh', 'no-such-program'] },
      {},
      'skill shop needs the program no-such-program, which is not installed; install it',
    ],
    [
      'env.required',
      { env: { required: ['SHOP_URL'] } },
      { SHOP_URL: '' },
      'skill shop needs the environment variable SHOP_URL; set it',
    ],
    [
      'env.one_of',
      { env: { one_of: ['SHOP_KEY', 'SHOP_TOKEN'] } },
      { SHOP_OTHER: 'x' },
      'skill shop needs one of the environment variables SHOP_KEY, SHOP_TOKEN; set one',
    ],
  ])(
    'under %s stop the start of the agent while one is missing',
    async (_, requires, env, words) => {
      const folder = folderThatRequires(requires);
      const failure = await launchAgent({}, { folder, env }).catch((error: unknown) => error);
      expect(failure).toMatchObject({
        code: 'config_invalid',
        problems: [{ message: words, file: 'SKILL.md', line: 1 }],
      });
    },
  );

  it('under env.optional may be missing', async () => {
    const agent = await startInFolder(folderThatRequires({ env: { optional: ['SHOP_REGION'] } }));
    expect(textOf(await agent.send('t', tell))).toBe('');
  });

  it('are passed to its scripts where they are set, without the rest of the environment', async () => {
    const env = {
      required: ['SHOP_URL'],
      one_of: ['SHOP_KEY', 'SHOP_TOKEN'],
      optional: ['SHOP_REGION'],
    };
    const folder = folderThatRequires({ bins: ['sh'], env });
    const agent = await launchAgent(
      {},
      {
        folder,
        env: { SHOP_URL: 'u', SHOP_TOKEN: 't', SHOP_REGION: 'r', SHOP_ADMIN: 'a' },
      },
    );
    onTestFinished(() => agent.stop());
    expect(textOf(await agent.send('t', tell))).toBe('SHOP_REGION=r SHOP_TOKEN=t SHOP_URL=u ');
  });
});
