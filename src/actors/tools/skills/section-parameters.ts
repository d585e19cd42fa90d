import { InexactNumberError, readExactJson } from '../../../machines/exact-json.ts';
import type { JsonObject, JsonValue } from '../../../machines/json.ts';
import { messageOf } from '../../../machines/message-of.ts';
import { checkSchema, SchemaError } from './argument-schema.ts';
import { parseInputBlock } from './input-block.ts';
import { parseInputLine } from './input-line.ts';
import type { Position } from './skill-problem.ts';
import type { JsonBlock, ToolSection } from './tool-sections.ts';

/** A remark about a section, with its position in the file. */
export interface Remark extends Position {
  message: string;
}

/** The arguments of a section; without `parameters` the tool cannot be offered. */
export interface SectionParameters {
  parameters?: JsonObject;
  problems: Remark[];
  warnings: Remark[];
}

/**
 * Returns the JSON Schema of a tool section: from its JSON block, else from its `**Input:**` line or the block below it,
 * else any object.
 */
export function sectionParameters(section: ToolSection): SectionParameters {
  for (const block of section.jsonBlocks) {
    const parsed = parseBlock(section.name, block);
    if ('message' in parsed) return { problems: [parsed], warnings: [] };
    if (isSchema(parsed.value, block.info)) return checked(section.name, parsed.value, block.line);
  }
  if (!section.input) return { parameters: { type: 'object' }, problems: [], warnings: [] };
  const { parameters, unread } = readInput(section.input);
  const problems = unread.map(({ reason, line, column }) => ({
    message: `tool ${section.name}: ${reason}`,
    line,
    column,
  }));
  return problems.length > 0 ? { problems, warnings: [] } : { parameters, problems, warnings: [] };
}

function readInput({ text, line, column, block, blockLine }: NonNullable<ToolSection['input']>) {
  const below = text === '' ? parseInputBlock(block) : null;
  if (below !== null) {
    const unread = below.unread.map(({ reason, line: index, at }) => ({
      ...{ reason, line: blockLine + index, column: at + 1 },
    }));
    return { parameters: below.parameters, unread };
  }
  const [next = ''] = block;
  // The arguments may stand in the line below; another heading in bold begins something else.
  const isBelow = text === '' && !/^\s*\*\*/.test(next);
  const place = isBelow ? { line: blockLine, column: 1 } : { line, column };
  const { parameters, unread } = parseInputLine(isBelow ? next : text);
  return {
    parameters,
    unread: unread.map(({ reason, at }) => ({ ...place, reason, column: place.column + at })),
  };
}

function checked(tool: string, schema: JsonObject, line: number): SectionParameters {
  const refuse = (reason: string): SectionParameters => ({
    problems: [{ message: `tool ${tool}: the JSON Schema ${reason}`, line, column: 1 }],
    warnings: [],
  });
  const parameters: JsonObject = { type: 'object', ...schema };
  if (parameters['type'] !== 'object')
    return refuse('must describe an object; set "type": "object"');
  try {
    checkSchema(parameters);
  } catch (error) {
    if (!(error instanceof SchemaError)) throw error;
    return refuse(`cannot be used: ${error.message}`);
  }
  return { parameters, problems: [], warnings: [] };
}

function parseBlock(tool: string, block: JsonBlock): { value: JsonValue } | Remark {
  try {
    return { value: readExactJson(block.content) };
  } catch (error) {
    if (error instanceof InexactNumberError) {
      return { message: `tool ${tool}: ${error.message}`, line: block.line, column: 1 };
    }
    const reason = messageOf(error);
    const place = /\(line (\d+) column (\d+)\)/.exec(reason);
    const line = Number(place?.[1] ?? block.margins.length) - 1;
    return {
      message: `tool ${tool}: the JSON block does not parse; fix the JSON here`,
      line: block.line + line,
      column: (block.margins[line] ?? 0) + Number(place?.[2] ?? 1),
    };
  }
}

const jsonTypes = ['object', 'array', 'string', 'number', 'integer', 'boolean', 'null'];

/** A plain `json` block may also be an example result, so it must look like a schema. */
function isSchema(value: JsonValue, info: string): value is JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  if (info.includes('schema')) return true;
  const { type } = value;
  return (
    ['properties', '$schema', '$ref', '$defs'].some((key) => Object.hasOwn(value, key)) ||
    (typeof type === 'string' && jsonTypes.includes(type))
  );
}
