/** A `SKILL.md` taken apart for the page: its frontmatter as it is written, and its Markdown. */
export interface SkillText {
  frontmatter: string;
  body: string;
}

/** Parts the text of a skill; a text without frontmatter is all Markdown. */
export function partsOfSkill(text: string): SkillText {
  const [, frontmatter = '', body = text] = /^---\r?\n([^]*?)\r?\n---\r?\n([^]*)$/.exec(text) ?? [];
  return { frontmatter, body: body.trim() };
}

/** The address of the skills, or of one, of all categories or of one. */
export function hrefOfSkills(category: string, name: string | null = null): string {
  const path = name === null ? '#/skills' : `#/skills/${encodeURIComponent(name)}`;
  return category === '' ? path : `${path}?category=${encodeURIComponent(category)}`;
}
