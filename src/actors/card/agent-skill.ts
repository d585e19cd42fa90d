import type { AgentSkill } from '../../machines/card/agent-card.ts';
import type { Tool } from '../ports.ts';
import type { Skill } from '../tools/tools.ts';

/** Describes the skill of a file for the card: its category is the first tag (docs/contract/agent-card.md). */
export function skillOfFile({ id, name, description, category, tags }: Skill): AgentSkill {
  const said = category === undefined ? tags : [category, ...tags];
  return { id, name: name || id, description, tags: distinctTags(said, 'skill') };
}

/** Describes a builtin tool for the card (docs/contract/agent-card.md). */
export function skillOfTool({ name, description }: Pick<Tool, 'name' | 'description'>): AgentSkill {
  return { id: name, name, description, tags: ['tool'] };
}

/** Sorts skills by id; of several with one id the first counts. */
export function inOrder(skills: readonly AgentSkill[]): AgentSkill[] {
  const known = new Map<string, AgentSkill>();
  for (const skill of skills) if (!known.has(skill.id)) known.set(skill.id, skill);
  return [...known.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Drops tags that are blank or differ from an earlier one in case alone; `fallback` stands in for none. */
export function distinctTags(tags: readonly string[], fallback: 'skill' | 'tool'): string[] {
  const known = new Map<string, string>();
  for (const tag of tags.map((text) => text.trim())) {
    const key = tag.toLowerCase();
    if (tag !== '' && !known.has(key)) known.set(key, tag);
  }
  return known.size === 0 ? [fallback] : [...known.values()];
}
