import { normalName } from '../../tool-name.ts';
import { scriptNameOf } from './find-script.ts';
import { FrontmatterError, parseFrontmatter } from './frontmatter.ts';
import { frontmatterSchema } from './frontmatter-schema.ts';
import { toolSections } from './tool-sections.ts';

/** Returns the tools for which a skill's text asks approval; empty for an invalid text. */
export function heldNames(text: string): string[] {
  try {
    const parsed = frontmatterSchema.safeParse(parseFrontmatter(text).data);
    const { forge, service } = (parsed.success ? parsed.data.metadata : null) ?? {};
    return [...new Set({ ...forge, ...service }.held?.map(normalName))];
  } catch (error) {
    if (error instanceof FrontmatterError) return [];
    throw error;
  }
}

/**
 * Returns the names, as written, of a skill's tools for which it asks approval; sections without a script are not
 * tools.
 */
export function toolsToHold({
  skill_md: text,
  scripts,
}: {
  skill_md: string;
  scripts: Readonly<Record<string, string>>;
}): string[] {
  const held = new Set(heldNames(text));
  if (held.size === 0) return [];
  const callable = new Set(Object.keys(scripts).map(scriptNameOf));
  const { body, bodyLine } = parseFrontmatter(text);
  return toolSections(body, bodyLine)
    .map(({ name }) => name)
    .filter((name) => held.has(normalName(name)) && callable.has(normalName(name)));
}
