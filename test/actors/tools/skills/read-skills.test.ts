import { createHash } from 'node:crypto';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSkills } from '../../../../src/actors/tools/skills/skills.ts';
import { runs } from '../../../helpers/runs.ts';
import { agentFolder } from './agent-folder.ts';

const minimal = (name: string, rest = '') => `---\nname: ${name}\ndescription: d\n${rest}---\n`;

describe('readSkills', () => {
  it('reads every field of a skill', async () => {
    const folder = agentFolder({
      'SKILL.md': `---
name: refunds
display_name: Refund desk
description: Pays refunds
category: customer-care
tags: [orders, money]
egress_domains: [api.example.com]
metadata:
  service:
    requires:
      bins: [jq]
      env: {required: [SHOP_KEY], one_of: [A_KEY, B_KEY], optional: [SHOP_REGION]}
    idempotent: [lookup-order]
    guardrails:
      denied_tools: [cli_execute]
---

# Refunds

Be kind.

## Tool: lookup_order

Finds an order
by its number.

More words.

**Input:** order_id (string), limit (integer, optional)
`,
      'scripts/lookup_order.sh': 'echo',
    });
    expect(await readSkills(folder)).toEqual({
      skills: [
        {
          id: 'refunds',
          name: 'Refund desk',
          description: 'Pays refunds',
          category: 'customer-care',
          tags: ['orders', 'money'],
          file: 'SKILL.md',
          body: expect.stringMatching(/^# Refunds\n\nBe kind\.[^]*optional\)$/),
          requires: {
            bins: ['jq'],
            env: { required: ['SHOP_KEY'], oneOf: ['A_KEY', 'B_KEY'], optional: ['SHOP_REGION'] },
          },
          egressDomains: ['api.example.com'],
          guardrails: { value: { denied_tools: ['cli_execute'] }, locate: expect.any(Function) },
          tools: [
            {
              name: 'lookup_order',
              description: 'Finds an order by its number.',
              parameters: {
                type: 'object',
                properties: { order_id: { type: 'string' }, limit: { type: 'integer' } },
                required: ['order_id'],
              },
              idempotent: true,
              script: join(folder, 'scripts/lookup_order.sh'),
              code: new Map([[join(folder, 'scripts/lookup_order.sh'), sha256('echo')]]),
              environment: ['SHOP_KEY', 'A_KEY', 'B_KEY', 'SHOP_REGION'],
              skill: 'refunds',
              file: 'SKILL.md',
              line: 22,
            },
          ],
        },
      ],
      problems: [],
      warnings: [],
    });
  });

  it('finds the main file, flat files and folders, in that order', async () => {
    const folder = agentFolder({
      'SKILL.md': minimal('main'),
      'skills/zebra.md': minimal('zebra'),
      'skills/apple/SKILL.md': minimal('apple'),
      'skills/.hidden.md': minimal('hidden'),
      'skills/notes/README.txt': 'nothing',
    });
    const { skills, problems, warnings } = await readSkills(folder);
    expect(skills.map(({ id, file }) => [id, file])).toEqual([
      ['main', 'SKILL.md'],
      ['apple', 'skills/apple/SKILL.md'],
      ['zebra', 'skills/zebra.md'],
    ]);
    expect([problems, warnings]).toEqual([[], []]);
  });

  it('reads the main file from another path once', async () => {
    const folder = agentFolder({ 'skills/agent.md': minimal('agent') });
    const { skills, problems, warnings } = await readSkills(folder, {
      mainPath: 'skills/agent.md',
    });
    expect(skills.map((skill) => skill.file)).toEqual(['skills/agent.md']);
    expect([problems, warnings]).toEqual([[], []]);
  });

  it('works without any skill', async () => {
    expect(await readSkills(agentFolder({}))).toEqual({ skills: [], problems: [], warnings: [] });
  });

  it('reports a named main file that is missing', async () => {
    const { problems } = await readSkills(agentFolder({}), { mainPath: 'docs/AGENT.md' });
    expect(problems).toEqual([
      {
        message: 'the skill file does not exist; fix the path',
        file: 'docs/AGENT.md',
        line: 1,
        column: 1,
      },
    ]);
  });

  it('reads metadata.forge, and metadata.service overrides it', async () => {
    const metadata = `metadata:
  forge: {requires: {bins: [curl]}, idempotent: true}
  service: {idempotent: false}
`;
    const folder = agentFolder({
      'SKILL.md': `${minimal('old', metadata)}## Tool: go\nGoes.\n`,
      'scripts/go.py': '',
    });
    const { skills } = await readSkills(folder);
    expect(skills[0]?.requires.bins).toEqual(['curl']);
    expect(skills[0]?.tools[0]?.idempotent).toBe(false);
  });

  it.each([
    ['no frontmatter', '# Just text'],
    ['no name', '---\ndescription: x\n---\n'],
    ['an empty name', '---\nname:\n---\n'],
    ['an empty frontmatter', '---\n# only a comment\n---\n'],
  ])('skips a file with %s and reports it', async (_case, content) => {
    const { skills, problems, warnings } = await readSkills(
      agentFolder({ 'skills/a.md': content }),
    );
    expect([skills, problems]).toEqual([[], []]);
    expect(warnings.map(({ message, file }) => [message, file])).toEqual([
      ['the file has no name in its frontmatter and is skipped; add one', 'skills/a.md'],
    ]);
  });

  it.each([
    [
      '---\ndescription: d\nname: Not Kebab\n---\n',
      'name must be lower-case words joined by hyphens, such as issue-refunds',
      3,
      7,
    ],
    [`---\nname: ${'a'.repeat(65)}\n---\n`, 'name is longer than 64 characters; shorten it', 2, 7],
    ['---\nname: a\ntags: [1]\n---\n', expect.stringContaining('tags.0 is not valid'), 3, 8],
    ['---\nname: a\n', expect.stringContaining('has no end'), 1, 1],
    ['---\nname: a\ntags: [x\n---\n', expect.stringContaining('not valid YAML'), 3, 9],
    ['---\n- name\n---\n', expect.stringContaining('must be keys with values'), 2, 1],
    [
      '---\nname: a\ndescription: d\nmetadata: {service: {requires: {env: {required: [NODE_OPTIONS]}}}}\n---\n',
      'requires.env: NODE_OPTIONS affects how scripts run and is not passed on; use another name',
      4,
      11,
    ],
    [
      `---\nname: a\nx: &x [1]\ny: *x\n---\n`,
      expect.stringContaining('not valid YAML'),
      expect.any(Number),
      expect.any(Number),
    ],
  ])('places the problem of %j', async (content, message, line, column) => {
    const { problems } = await readSkills(agentFolder({ 'SKILL.md': content }));
    expect(problems).toEqual([{ message, file: 'SKILL.md', line, column }]);
  });

  it('survives frontmatter nested 5000 deep, twice', async () => {
    const deep = `---\nname: a\nx: ${'['.repeat(5000)}${']'.repeat(5000)}\n---\n`;
    const folder = agentFolder({ 'SKILL.md': deep, 'skills/b.md': deep });
    const { problems } = await readSkills(folder);
    expect(problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('maxDepth'),
      expect.stringContaining('maxDepth'),
    ]);
  });

  it('refuses files and scripts outside the folder', async () => {
    const outside = agentFolder({
      'SKILL.md': minimal('x'),
      'run.sh': 'echo',
      'x/SKILL.md': minimal('y'),
    });
    const folder = agentFolder({
      'SKILL.md': `${minimal('main')}## Tool: run\nRuns.\n## Tool: gone\nGone.\n`,
      'scripts/keep': '',
    });
    mkdirSync(join(folder, 'skills'));
    symlinkSync(join(outside, 'SKILL.md'), join(folder, 'skills/link.md'));
    symlinkSync(join(outside, 'x'), join(folder, 'skills/folder'));
    mkdirSync(join(folder, 'skills/lost'));
    symlinkSync('nowhere', join(folder, 'skills/lost/SKILL.md'));
    symlinkSync(join(outside, 'run.sh'), join(folder, 'scripts/run.sh'));
    symlinkSync(join(folder, 'nowhere'), join(folder, 'scripts/gone.sh'));
    const { skills, problems } = await readSkills(folder);
    expect(skills.map(({ id, tools }) => [id, tools])).toEqual([['main', []]]);
    expect(problems.map(({ message, file, line }) => [file, line, message])).toEqual([
      [
        'SKILL.md',
        5,
        "tool run has a script run.sh that leads out of the agent's folder; move it inside",
      ],
      ['SKILL.md', 7, 'tool gone has a script gone.sh that is not a file; replace it'],
      ['skills/folder/SKILL.md', 1, 'the skill file leads out of the agent folder; move it inside'],
      ['skills/link.md', 1, 'the skill file leads out of the agent folder; move it inside'],
      ['skills/lost/SKILL.md', 1, 'the skill file does not exist; fix the path'],
    ]);
  });

  it('follows links inside the folder', async () => {
    const folder = agentFolder({ 'shared/SKILL.md': minimal('shared'), 'skills/keep/x': '' });
    symlinkSync('../../shared/SKILL.md', join(folder, 'skills/keep/SKILL.md'));
    const { skills, problems } = await readSkills(folder);
    expect(skills.map(({ id, file }) => [id, file])).toEqual([['shared', 'skills/keep/SKILL.md']]);
    expect(problems).toEqual([]);
  });

  it('refuses a path with .., a folder and a huge file', async () => {
    const folder = agentFolder({ 'skills/huge.md': minimal('a') + 'x'.repeat(256 * 1024) });
    mkdirSync(join(folder, 'skills/folder.md'));
    const { problems } = await readSkills(folder, { mainPath: '../../../../../../etc/hostname' });
    expect(problems.map(({ message }) => message)).toEqual([
      'the skill file leads out of the agent folder; move it inside',
      'the skill is not a file; replace it',
      'the skill file is larger than 256 KiB; shorten it',
    ]);
  });

  it('keeps the first of two skills with one name', async () => {
    const folder = agentFolder({ 'skills/a.md': minimal('same'), 'skills/b.md': minimal('same') });
    const { skills, warnings } = await readSkills(folder);
    expect(skills.map((skill) => skill.file)).toEqual(['skills/a.md']);
    expect(warnings).toEqual([
      {
        message: 'another file already holds the skill same and this one is skipped; rename one',
        file: 'skills/b.md',
        line: 1,
        column: 1,
      },
    ]);
  });

  it('never throws, for any content of a file', async () => {
    const folder = agentFolder({ 'scripts/a.sh': '' });
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '---\n',
        'name: a\n',
        'metadata:\n',
        '  service:\n',
        'tags: ',
        '__proto__: {a: 1}\n',
        '## Tool: a\n',
        '```json\n',
        '```\n',
        '{"type": "object"}\n',
        '**Input:** ',
        '&x *x\n',
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(piece), fc.boolean(), async (pieces, withName) => {
        const head = withName ? '---\nname: a\n---\n' : '---\n';
        writeFileSync(join(folder, 'SKILL.md'), head + pieces.join(''));
        const { problems, warnings } = await readSkills(folder);
        for (const { line, column } of [...problems, ...warnings]) {
          expect(Math.min(line, column)).toBeGreaterThanOrEqual(1);
        }
      }),
      { numRuns: runs(150) },
    );
  });
});

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
