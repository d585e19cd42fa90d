/** A `SKILL.md` split for display: its raw frontmatter and its Markdown. */
export interface SkillText {
  frontmatter: string;
  body: string;
}

/** Splits a skill's text; a string without frontmatter is all Markdown. */
export function partsOfSkill(text: string): SkillText {
  const [, frontmatter = '', body = text] = /^---\r?\n([^]*?)\r?\n---\r?\n([^]*)$/.exec(text) ?? [];
  return { frontmatter, body: body.trim() };
}

/** Returns the URL of the skills or one skill, in all categories or one. */
export function hrefOfSkills(category: string, name: string | null = null): string {
  const path = name === null ? '#/skills' : `#/skills/${encodeURIComponent(name)}`;
  return category === '' ? path : `${path}?category=${encodeURIComponent(category)}`;
}
