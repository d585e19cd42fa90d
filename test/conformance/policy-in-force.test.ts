import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { policyGapIn } from '../../src/actors/workspace/policy-gap.ts';
import { policyDigest } from '../../src/agent/policy/policy-digest.ts';
import { readAgent } from '../../src/agent/start/read-agent.ts';
import { ManualClock } from '../helpers/manual-clock.ts';
import { runs } from '../helpers/runs.ts';
import { startTestAgent } from '../helpers/test-agent.ts';

/** The digest of the policy that the files of a folder have. */
async function inFiles(folder: string): Promise<string | null> {
  const { agent, problems } = await readAgent(folder, { SHOP_KEY: 'x' }, new ManualClock(0));
  if (agent === null || problems.length > 0) return null;
  return policyDigest(agent.config, agent.toolbox.skills);
}

it('a changed rule in the file is never shown as current, after any edits', async () => {
  const agent = await startTestAgent({ security: { policy: { reload: 'manual' } } });
  const directory = agent.folder.path;
  const path = join(directory, 'service.yaml');
  const started = readFileSync(path, 'utf8');
  const original = await inFiles(directory);
  const edits = fc.array(
    fc.record(
      {
        denied: fc.constantFrom([], ['pay'], ['echo']),
        held: fc.constantFrom({}, { pay: { to: 'channel:console:*' } }),
        description: fc.constantFrom('', 'another one'),
      },
      { requiredKeys: [] },
    ),
    { minLength: 1, maxLength: 4 },
  );
  await fc.assert(
    fc.asyncProperty(edits, async (all) => {
      for (const { denied = [], held = {}, description = '' } of all) {
        const config = {
          ...JSON.parse(started),
          description,
          security: {
            policy: { reload: 'manual' },
            guardrails: { enabled: true, denied_tools: denied },
            defer: { enabled: true, tools: held },
          },
        };
        writeFileSync(path, JSON.stringify(config));
        const digest = await inFiles(directory);
        const gap = policyGapIn(directory, digest ?? '');
        expect(gap === null).toBe(digest === original);
      }
      writeFileSync(path, started);
      expect(policyGapIn(directory, (await inFiles(directory)) ?? '')).toBeNull();
    }),
    { numRuns: runs(15) },
  );
});

it('changed credentials in the file are not shown as current', async () => {
  const agent = await startTestAgent();
  const directory = agent.folder.path;
  const path = join(directory, 'service.yaml');
  const spec = { env: { SHOP_KEY: { from_env: 'SHOP_KEY' } } };
  const credentials = [{ tool: 'pay', provider: 'static', spec }];
  writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), credentials }));
  const digest = (await inFiles(directory)) ?? 'unusable';
  expect([digest, policyGapIn(directory, digest)]).toEqual([
    expect.stringMatching(/^[0-9a-f]{64}$/),
    expect.objectContaining({ changedAt: expect.any(String) }),
  ]);
});
