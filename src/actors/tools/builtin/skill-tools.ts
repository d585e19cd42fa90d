import { hash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, posix, relative, sep } from 'node:path';
import { type Tool, ToolError } from '../../ports/tool.ts';
import { digestOf, type Skill } from '../skills/skills.ts';
import { type AgentFiles, hiddenFrom } from './agent-files.ts';
import { builtinTool } from './builtin-tool.ts';
import { excerpt, usualLines } from './file-read.ts';
import { readTextFile } from './file-text.ts';

/** Maximum files of a skill that are listed for the model, and that it may read at all. */
const mostListed = 200;
const mostFiles = 2_000;

/** Levels of folders below that of a skill. */
const mostLevels = 12;

/** Folders of the main skill, whose own folder is that of the agent. */
const mainFolders = ['references', 'assets', 'scripts'];

/**
 * Creates the tools by which a model opens the skills that its instructions name: `skill_open` returns the text of a
 * skill, and `skill_read` a text file in its folder (docs/contract/models.md). Neither runs anything.
 */
export function skillTools(skills: readonly Skill[], files: AgentFiles): Tool[] {
  const name = {
    type: 'string',
    enum: skills.map(({ id }) => id),
    description: 'Name of the skill',
  };
  const find = (id: string): Skill => {
    const found = skills.find((skill) => skill.id === id);
    if (found === undefined) throw new ToolError(`there is no skill ${id}`);
    return found;
  };
  const open = builtinTool<{ name: string }>({
    name: 'skill_open',
    description:
      'Returns the instructions of a skill, with the names of its tools and files. Open a skill before work that its description covers.',
    parameters: {
      type: 'object',
      properties: { name },
      required: ['name'],
      additionalProperties: false,
    },
    idempotent: true,
    identity: async () => ({
      texts: hash('sha256', JSON.stringify(skills.map(({ id, body }) => [id, body]))),
    }),
    run: async ({ name: id }) => describe(find(id), files),
  });
  const read = builtinTool<{ name: string; path: string; offset?: number }>({
    name: 'skill_read',
    description:
      'Reads a text file in the folder of a skill, such as references/forms.md, and returns its lines, with a note in brackets at the end when there are more.',
    parameters: {
      type: 'object',
      properties: {
        name,
        path: {
          type: 'string',
          minLength: 1,
          description: 'Path of the file from the folder of the skill',
        },
        offset: {
          type: 'integer',
          minimum: 1,
          description: 'Number of the first line to return; 1 if omitted',
        },
      },
      required: ['name', 'path'],
      additionalProperties: false,
    },
    idempotent: true,
    identity: () => digestFiles(skills, files),
    async run({ name: id, path, offset = 1 }) {
      const skill = find(id);
      const name = posix.normalize(path);
      const root = rootsOf(skill, files).find(({ prefix }) => name.startsWith(prefix));
      if (root === undefined || !(await filesOf(skill, files)).includes(name)) {
        const message = `skill_read: the skill ${id} has no file ${JSON.stringify(path)}`;
        throw new ToolError(message, { kind: 'file refused' });
      }
      const own = { ...files, directory: root.folder };
      const { text } = await readTextFile('skill_read', own, name.slice(root.prefix.length));
      return excerpt('skill_read', text, offset, usualLines);
    },
  });
  return [open, read];
}

async function describe(skill: Skill, files: AgentFiles): Promise<string> {
  const tools = skill.tools.map(({ name }) => name).join(', ');
  const names = await filesOf(skill, files);
  return [
    skill.body,
    ...(tools === '' ? [] : [`[tools of this skill: ${tools}]`]),
    ...(names.length === 0 ? [] : [`[files of this skill, for skill_read: ${listed(names)}]`]),
  ].join('\n\n');
}

function listed(names: readonly string[]): string {
  const more = names.length - mostListed;
  return `${names.slice(0, mostListed).join(', ')}${more > 0 ? `, and ${more} more` : ''}`;
}

/** A folder of a skill, and how the paths of its files begin. */
interface Root {
  folder: string;
  prefix: string;
}

/**
 * Returns the folders that a skill's files are in: its own, or some folders of the agent for its main skill. None for a
 * skill that is a single file in `skills`.
 */
function rootsOf({ file }: Skill, { directory }: AgentFiles): Root[] {
  const folder = dirname(file);
  if (folder === 'skills' || basename(file) !== 'SKILL.md') return [];
  return folder === '.'
    ? mainFolders.map((name) => ({ folder: join(directory, name), prefix: `${name}/` }))
    : [{ folder: join(directory, folder), prefix: '' }];
}

/** Lists the files of a skill that `skill_read` may read, without links, sorted. */
async function filesOf(skill: Skill, files: AgentFiles): Promise<string[]> {
  const names: string[] = [];
  for (const { folder, prefix } of rootsOf(skill, files)) {
    const found: string[] = [];
    await collect(folder, mostLevels, found);
    const own = { ...files, directory: folder };
    for (const path of found) {
      const steps = relative(folder, path).split(sep);
      const isReadable = steps.join('/') !== 'SKILL.md' && hiddenFrom(own, steps) === null;
      if (isReadable) names.push(prefix + steps.join('/'));
    }
  }
  return names;
}

async function collect(folder: string, levels: number, found: string[]): Promise<void> {
  if (levels === 0) return;
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    if (found.length >= mostFiles) return;
    if (entry.name.startsWith('.') || entry.name === 'node_modules') continue;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await collect(path, levels - 1, found);
    else if (entry.isFile()) found.push(path);
  }
}

/** Digests the files that the model may read, so that an approval holds for their content. */
async function digestFiles(
  skills: readonly Skill[],
  files: AgentFiles,
): Promise<Record<string, string>> {
  const digest: Record<string, string> = {};
  for (const skill of skills) {
    for (const name of await filesOf(skill, files)) {
      const path = join(dirname(skill.file), name);
      digest[path] = await digestOf(join(files.directory, path));
    }
  }
  return digest;
}
