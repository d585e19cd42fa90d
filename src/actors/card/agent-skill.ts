import type { AgentSkill } from '../../machines/card/agent-card.ts';
import type { Tool } from '../ports/tool.ts';
import type { Skill } from '../tools/tools.ts';

/** Converts a skill file to a card skill; its category becomes the first tag (docs/contract/agent-card.md). */
export function skillOfFile({ id, name, description, category, tags }: Skill): AgentSkill {
  const said = category === undefined ? tags : [category, ...tags];
  return { id, name: name || id, description, tags: distinctTags(said, 'skill') };
}

/** Converts a builtin tool to a card skill (docs/contract/agent-card.md). */
export function skillOfTool({ name, description }: Pick<Tool, 'name' | 'description'>): AgentSkill {
  return { id: name, name, description, tags: ['tool'] };
}

/** Sorts skills by id; of several with the same id the first wins. */
export function inOrder(skills: readonly AgentSkill[]): AgentSkill[] {
  const known = new Map<string, AgentSkill>();
  for (const skill of skills) if (!known.has(skill.id)) known.set(skill.id, skill);
  return [...known.values()].sort((one, other) => (one.id < other.id ? -1 : 1));
}

/** Removes blank tags and case-insensitive duplicates; returns `fallback` if none remain. */
export function distinctTags(tags: readonly string[], fallback: 'skill' | 'tool'): string[] {
  const known = new Map<string, string>();
  for (const tag of tags.map((text) => text.trim())) {
    const key = tag.toLowerCase();
    if (tag !== '' && !known.has(key)) known.set(key, tag);
  }
  return known.size === 0 ? [fallback] : [...known.values()];
}
