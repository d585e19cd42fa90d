import { type Tool, ToolError } from '../../ports/tool.ts';
import { type BuiltinDependencies, builtinTool } from './builtin-tool.ts';
import { largestFile, readTextFile } from './file-text.ts';
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
export function fileEdit({ files }: Pick<BuiltinDependencies, 'files'>): Tool {
  return builtinTool<Edit>({
    name: 'file_edit',
    description:
      "Replaces a text in a file of the agent's folder by another. The old text must stand in the file exactly once, unless replace_all is set.",
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
          description: 'The text as it stands in the file, blanks and line ends included',
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
      `argument old_text stands in the file more than ${mostPlaces} times; make it longer`,
    );
  }
  if (places > 1 && !replace_all) {
    throw refused(
      `argument old_text stands in the file ${places} times; make it longer or set replace_all`,
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
