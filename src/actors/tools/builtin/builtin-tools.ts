import { type Tool, ToolError } from '../../ports/tool.ts';
import { findProgram } from '../../process/process.ts';
import { runIsolated } from '../scripts/run-isolated.ts';
import { digestOf, digestTree } from '../skills/skills.ts';
import { type BuiltinDependencies, builtinTool } from './builtin-tool.ts';
import { csvParse } from './csv-parse.ts';
import { datetimeNow } from './datetime-now.ts';
import { fileRead } from './file-read.ts';
import { largestFile, readTextFile } from './file-text.ts';
import { fileWrite } from './file-write.ts';
import { globSearch } from './glob-search.ts';
import { grepSearch } from './grep-search.ts';
import { httpRequest } from './http-request.ts';
import { jsonQuery } from './json-query.ts';
import { mathCalculate } from './math-calculate.ts';
import { uuidGenerate } from './uuid-generate.ts';
import { webFetch } from './web-fetch.ts';
import { webSearch } from './web-search.ts';
import { oneAtATime, writeTextFile } from './write-text-file.ts';

/** Maximum replacements per call; more would block the daemon. */
const mostPlaces = 1_000_000;

interface Edit {
  path: string;
  old_text: string;
  new_text: string;
  replace_all?: boolean;
}

/** Replaces a part of a text file in the agent's folder (docs/contract/models.md). */
function fileEdit({ files }: Pick<BuiltinDependencies, 'files'>): Tool {
  return builtinTool<Edit>({
    name: 'file_edit',
    description:
      "Replaces text in a file of the agent's folder. The old text must occur in the file exactly once, unless replace_all is set.",
    parameters: {
      type: 'object',
      properties: {
        path: {
          type: 'string',
          minLength: 1,
          description: "Path of the file from the agent's folder",
        },
        old_text: {
          type: 'string',
          minLength: 1,
          description: 'The exact text in the file, including blanks and line ends',
        },
        new_text: { type: 'string', description: 'What is to stand there instead' },
        replace_all: {
          type: 'boolean',
          description: 'Whether every place is changed; false if omitted',
        },
      },
      required: ['path', 'old_text', 'new_text'],
      additionalProperties: false,
    },
    idempotent: false,
    async run(edit) {
      return oneAtATime(async () => {
        const { text } = await readTextFile('file_edit', files, edit.path, 'write');
        const { changed, places } = edited(text, edit);
        const content = { path: edit.path, text: changed.toWellFormed(), isReplaced: true };
        await writeTextFile('file_edit', files, content);
        return `changed ${places} place${places === 1 ? '' : 's'} in ${edit.path}`;
      });
    },
  });
}

function edited(text: string, { old_text, new_text, replace_all = false }: Edit) {
  const places = countPlaces(text, old_text);
  if (places === 0) throw refused('argument old_text does not stand in the file; read it again');
  if (places > mostPlaces) {
    throw refused(
      `argument old_text occurs in the file more than ${mostPlaces} times; make it longer`,
    );
  }
  if (places > 1 && !replace_all) {
    throw refused(
      `argument old_text occurs in the file ${places} times; make it longer or set replace_all`,
    );
  }
  const length = text.length + places * (new_text.length - old_text.length);
  if (length > largestFile) throw refused('the file would be larger than 10 MiB');
  return { changed: text.split(old_text).join(new_text), places };
}

/** Stops counting beyond the limit. */
function countPlaces(text: string, part: string): number {
  let places = 0;
  let at = text.indexOf(part);
  for (; at !== -1 && places <= mostPlaces; at = text.indexOf(part, at + part.length)) places += 1;
  return places;
}

function refused(why: string): ToolError {
  return new ToolError(`file_edit: ${why}`, { kind: 'invalid arguments' });
}

const factories = new Map<string, (dependencies: BuiltinDependencies) => Tool>([
  ['cli_execute', cliExecute],
  ['csv_parse', csvParse],
  ['datetime_now', datetimeNow],
  ['file_edit', fileEdit],
  ['file_read', fileRead],
  ['file_write', fileWrite],
  ['glob_search', globSearch],
  ['grep_search', grepSearch],
  ['http_request', httpRequest],
  ['json_query', jsonQuery],
  ['math_calculate', mathCalculate],
  ['uuid_generate', uuidGenerate],
  ['web_fetch', webFetch],
  ['web_search', webSearch],
]);

/** Names that `builtin_tools` may list, sorted. */
export const builtinToolNames: readonly string[] = [...factories.keys()].toSorted();

/** Creates the builtin tools with these names, in order. Throws a RangeError for an unknown name. */
export function builtinTools(names: readonly string[], dependencies: BuiltinDependencies): Tool[] {
  return names.map((name) => {
    const make = factories.get(name);
    if (!make) throw new RangeError(`${name} is not a builtin tool`);
    return make(dependencies);
  });
}

/** Arguments of the model. */
interface Asked {
  command: string;
  args?: string[];
  stdin?: string;
}

/**
 * Runs one of the programs listed in `tools`, always in the sandbox of scripts, since a model chooses its arguments
 * (docs/contract/egress.md, docs/contract/models.md). Never uses a shell.
 */
function cliExecute(dependencies: BuiltinDependencies): Tool {
  const { commands = [], timeout } = dependencies.settings('cli_execute');
  return builtinTool<Asked>({
    name: 'cli_execute',
    description:
      "Runs a program and returns what it prints. There is no shell: no pipes, variables, wildcards or redirections. The agent's files are in the folder that SERVICE_AGENT_DIR names.",
    parameters: {
      type: 'object',
      properties: {
        command: {
          type: 'string',
          ...(commands.length > 0 ? { enum: [...commands] } : {}),
          description: 'The program to run',
        },
        args: {
          type: 'array',
          items: { type: 'string' },
          maxItems: 200,
          description: 'Its arguments, one by one, such as ["-n", "2"]',
        },
        stdin: { type: 'string', description: 'What it reads from its standard input' },
      },
      required: ['command'],
      additionalProperties: false,
    },
    idempotent: false,
    check(given) {
      const { args = [] } = given as unknown as Asked;
      return args.some((word) => word.includes('\0'))
        ? 'cli_execute: an argument is no text'
        : null;
    },
    async identity() {
      const { agentDirectory, isolation } = dependencies;
      const { hidden = [], writable = [] } = isolation?.() ?? {};
      const programs = commands.map(async (name) => [name, await programDigest(name)] as const);
      // A program may be asked to run a file of the agent.
      const code = await digestTree({ agentDirectory, own: [], apart: [...hidden, ...writable] });
      return { programs: Object.fromEntries(await Promise.all(programs)), code };
    },
    async run({ command, args = [], stdin = '' }, run) {
      const program = commands.includes(command) ? findProgram(command) : null;
      if (program === null) {
        throw new ToolError(`cli_execute: ${command} is not installed`, { kind: 'not started' });
      }
      const limits = { ...dependencies.limits, ...(timeout === undefined ? {} : { timeout }) };
      return runIsolated(
        {
          name: 'cli_execute',
          program,
          args,
          input: stdin,
          environment: [],
          code: new Map(),
          isModels: true,
        },
        { ...dependencies, limits },
        run,
      );
    },
  });
}

async function programDigest(name: string): Promise<string> {
  const program = findProgram(name);
  return program === null ? 'missing' : digestOf(program);
}
