import { hash } from 'node:crypto';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  heldTools,
  parseFrontmatter,
  type RegistrySkill,
  readSkills,
} from '../../actors/tools/tools.ts';
import { AddSkillError, type FileTree } from '../../actors/workspace/workspace.ts';
import { isKebabName } from '../../machines/kebab-case.ts';
import { messageOf } from '../../machines/message-of.ts';
import type { MovedKey } from '../../machines/moving/moved-key.ts';

/** Most skills of one source. */
const mostSkills = 200;

/** The skills of a source, and those that an agent would not load. */
export interface SourceSkills {
  skills: RegistrySkill[];
  refusals: MovedKey[];
}

/**
 * Finds the skills in the files of a folder or archive: each folder with a `SKILL.md`, sorted by path, without those
 * that the operator omits. Rejects with an AddSkillError for names that clash.
 */
export async function skillsOf(
  files: FileTree,
  without: readonly string[] = [],
): Promise<SourceSkills> {
  const refusals: MovedKey[] = [];
  const folders = [...files.keys()]
    .filter((path) => path === 'SKILL.md' || path.endsWith('/SKILL.md'))
    .map((path) => path.slice(0, -'SKILL.md'.length))
    .toSorted();
  if (folders.length > mostSkills) {
    throw unusable(`the source has more than ${mostSkills} skills; name a folder with fewer`);
  }
  const stage = await mkdtemp(join(tmpdir(), 'holdpoint-skills-'));
  try {
    const names = new Map<string, { folder: string; tree: ReadonlyMap<string, Buffer> }>();
    for (const folder of folders) {
      const { tree, link } = below(files, folder, folders);
      const name = nameIn(tree);
      const key = `skills/${typeof name === 'string' ? name : folder.slice(0, -1)}`;
      if (without.includes(key)) {
        refusals.push({ key, outcome: 'lost', why: 'omitted as asked' });
        continue;
      }
      if (typeof name !== 'string') {
        const why = `${folder}SKILL.md: ${name.reason}`;
        refusals.push({ key, outcome: 'refused', why });
        continue;
      }
      if (link !== undefined) {
        const why = `${folder}${link} is a link or a device; put the file itself there`;
        refusals.push({ key, outcome: 'refused', why });
        continue;
      }
      const other = names.get(name);
      if (other !== undefined) {
        throw unusable(`${other.folder}SKILL.md and ${folder}SKILL.md are both called ${name}`);
      }
      names.set(name, { folder, tree });
      for (const [path, content] of tree) {
        const file = join(stage, 'skills', name, path);
        await mkdir(dirname(file), { recursive: true });
        await writeFile(file, content, { flag: 'wx' });
      }
    }
    const { skills, problems } = await readSkills(stage);
    const broken = new Set<string>();
    for (const problem of problems) {
      const [, name = '', path = ''] = /^skills\/([^/]+)\/(.*)$/.exec(problem.file) ?? [];
      const place = `${names.get(name)?.folder ?? ''}${path}:${problem.line}:${problem.column}`;
      broken.add(name);
      const why = `${place}: ${problem.message}`;
      refusals.push({ key: `skills/${name}`, outcome: 'refused', why });
    }
    const usable = skills.filter(({ id }) => !broken.has(id));
    const found = usable.map((skill) => {
      const tree = names.get(skill.id)?.tree ?? new Map<string, Buffer>();
      const others = new Map([...tree].filter(([path]) => path !== 'SKILL.md'));
      const bytes = tree.get('SKILL.md') ?? Buffer.alloc(0);
      const text = bytes.toString('utf8');
      if (!Buffer.from(text).equals(bytes)) throw unusable(`${skill.file} is not text in UTF-8`);
      const held = heldTools(skill);
      return { skill, text, scripts: {}, others, held, digest: digestOfTree(tree) };
    });
    return { skills: found, refusals };
  } finally {
    await rm(stage, { recursive: true, force: true });
  }
}

/** Returns the SHA-256, in hex, of files and their paths. */
export function digestOfTree(files: FileTree): string {
  const entries = [...files].map(([path, content]) => [
    path,
    content === null ? '' : hash('sha256', content, 'hex'),
  ]);
  return hash(
    'sha256',
    JSON.stringify(entries.toSorted(([one = ''], [other = '']) => (one < other ? -1 : 1))),
    'hex',
  );
}

/** Returns the files of a skill without those of skills in its folder, and the first link among them. */
function below(
  files: FileTree,
  folder: string,
  folders: readonly string[],
): { tree: ReadonlyMap<string, Buffer>; link?: string } {
  const inner = folders.filter((one) => one !== folder && one.startsWith(folder));
  const tree = new Map<string, Buffer>();
  let link: string | undefined;
  for (const [path, content] of files) {
    if (!path.startsWith(folder) || inner.some((one) => path.startsWith(one))) continue;
    const own = path.slice(folder.length);
    if (content === null) link ??= own;
    else tree.set(own, content);
  }
  return link === undefined ? { tree } : { tree, link };
}

function nameIn(tree: ReadonlyMap<string, Buffer>): string | { reason: string } {
  try {
    const { name } = parseFrontmatter(tree.get('SKILL.md')?.toString('utf8') ?? '').data;
    if (isKebabName(name)) return name;
  } catch (error) {
    return { reason: messageOf(error) };
  }
  return {
    reason:
      'the name must be lower-case words joined by hyphens, at most 64 characters, such as issue-refunds',
  };
}

function unusable(message: string): AddSkillError {
  return new AddSkillError('skill_unusable', message);
}
