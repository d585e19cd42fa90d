import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readRegistry, validateSkill } from '../../src/actors/tools/tools.ts';
import { registrySkills } from '../../src/agent/skills/skill-registry.ts';
import { agentFolder } from '../actors/tools/skills/agent-folder.ts';

const skills = await registrySkills();
const named = skills.map((found) => [found.skill.id, found] as const);

/** What must wait for a person, by skill; every other tool only reads. */
const changing: Record<string, string[]> = {
  'email-send': ['send_mail'],
  'feature-flags': ['set_flag'],
  'github-issues': ['comment_on_issue'],
  kubernetes: ['restart_deployment'],
  'slack-post': ['post_message'],
  'stripe-refunds': ['refund_payment'],
  'webhook-post': ['post_event'],
};

/** Files that several skills have, as each is copied whole. */
const shared = ['files.mjs', 'http.mjs', 'run.mjs', 'tunnel.mjs'];

describe('the skills in the package', () => {
  it('are these', () => {
    expect(skills.map(({ skill: { id, category } }) => `${category}/${id}`)).toEqual([
      'data/csv-report',
      'network/dns-lookup',
      'communication/email-send',
      'infrastructure/feature-flags',
      'development/github-issues',
      'monitoring/http-health',
      'data/json-diff',
      'infrastructure/kubernetes',
      'monitoring/log-search',
      'monitoring/prometheus-query',
      'development/release-notes',
      'communication/slack-post',
      'data/sqlite-query',
      'payments/stripe-refunds',
      'integration/webhook-post',
    ]);
  });

  it.each(named)(
    '%s follows every rule, and states its purpose',
    (id, { skill, text, scripts }) => {
      expect(validateSkill({ skill_md: text, scripts, existing: [], editing: null })).toEqual([]);
      expect(skill.file).toBe(`skills/${id}/SKILL.md`);
      expect(skill.description).toMatch(/^[A-Z].{30,200}\.$/);
      expect(skill.risk).toMatch(/^[A-Z].{30,200}\.$/);
      expect(skill.tags.length).toBeGreaterThan(0);
      expect(skill.tools.length).toBeGreaterThan(0);
    },
  );

  it.each(named)('%s holds only tools that change something', (id, { held }) => {
    expect(held).toEqual(changing[id] ?? []);
  });

  it.each(named)('%s accepts no unknown argument, and none of unlimited length', (_, found) => {
    for (const { parameters } of found.skill.tools) {
      if (parameters['properties'] === undefined) continue;
      const open = { type: 'object', properties: {}, required: [] };
      if (JSON.stringify(parameters) === JSON.stringify(open)) continue;
      expect(parameters['additionalProperties']).toBe(false);
      for (const [name, schema] of Object.entries(parameters['properties'] as object)) {
        const { type, maxLength, pattern, maximum, maxItems } = schema as Record<string, unknown>;
        const isBound = [maxLength, pattern, maximum, maxItems].some(
          (limit) => limit !== undefined,
        );
        const isOpen = type === 'string' || type === 'array' || type === 'number';
        expect([name, isOpen && !isBound]).toEqual([name, false]);
      }
    }
  });

  it.each(named)('%s requires variables with its own names', (_, { skill, scripts }) => {
    const { required, oneOf, optional } = skill.requires.env;
    const declared = [...required, ...oneOf, ...optional].toSorted();
    const used = Object.values(scripts).flatMap((script) =>
      [...script.matchAll(/(?:process\.env\.|variable\(')([A-Z][A-Z0-9_]+)/g)].map(
        ([, name = '']) => name,
      ),
    );
    const own = new Set(
      used.filter((name) => !name.startsWith('SERVICE_') && name !== 'HTTPS_PROXY'),
    );
    expect([...own].toSorted()).toEqual(declared);
  });

  it.each(shared)('share one %s', (file) => {
    const copies = skills.flatMap(({ scripts }) => scripts[file] ?? []);
    expect(copies.length).toBeGreaterThan(1);
    expect(new Set(copies).size).toBe(1);
  });

  it('have a digest that changes with any change of a file, and with nothing else', async () => {
    const again = await readRegistry(join(import.meta.dirname, '../..'));
    expect(again.map(({ digest }) => digest)).toEqual(skills.map(({ digest }) => digest));
    expect(new Set(skills.map(({ digest }) => digest)).size).toBe(skills.length);
    const root = agentFolder({});
    const digestOf = async (script: string) => {
      const folder = join(root, 'skills/one/scripts');
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(root, 'skills/one/SKILL.md'), '---\nname: one\ndescription: d\n---\n');
      writeFileSync(join(folder, 'a.mjs'), script);
      return (await readRegistry(root)).map(({ digest }) => digest);
    };
    expect(await digestOf('1')).toEqual(await digestOf('1'));
    expect(await digestOf('1')).not.toEqual(await digestOf('2'));
  });
});
