import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../machines/json.ts';
import { cutToRunes } from '../../../machines/text.ts';
import { normalName } from '../../tool-name.ts';
import type { OfferedTool, UnusableTool } from './offered-tool.ts';
import { quoteOf } from './server-fault.ts';

/** The longest description that a model is given, in characters. */
const longestDescription = 2_000;

/** The longest schema of arguments, in characters of JSON. */
const longestSchema = 16 * 1024;

/** How deep a schema may go. */
const deepest = 32;

/** The names that the interfaces of models take. */
const modelName = /^[A-Za-z0-9_-]{1,64}$/;

/** What neither shows nor is needed in a text: control, format and line-breaking characters but line feed and tab. */
const unseen = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** What a server's list comes to. */
export interface ReadOffer {
  tools: OfferedTool[];
  unusable: UnusableTool[];
}

/**
 * Reads the list of tools of a server, none of which is believed: what is no tool, what no model could call, and all
 * but the first of those with one name are left out, each with its reason. Names that differ in hyphens and underscores
 * alone are one, so that a rule for one cannot be sidestepped through the other.
 */
export function readOffer(server: string, list: readonly unknown[]): ReadOffer {
  const offer: ReadOffer = { tools: [], unusable: [] };
  const taken = new Set<string>();
  for (const entry of list) {
    const { name, inputSchema: schema } = isJsonObject(entry as JsonValue)
      ? (entry as JsonObject)
      : {};
    const reason = faultOf(server, name, schema, taken);
    if (reason !== null) {
      offer.unusable.push({ name: typeof name === 'string' ? quoteOf(name) : 'a tool', reason });
      continue;
    }
    taken.add(normalName(name as string));
    offer.tools.push(offeredTool(name as string, (entry as JsonObject)['description'], schema));
  }
  return offer;
}

function faultOf(
  server: string,
  name: unknown,
  schema: JsonValue | undefined,
  taken: ReadonlySet<string>,
): string | null {
  if (typeof name !== 'string') return 'has no name';
  if (name === '' || !modelName.test(`${server}__${name}`)) {
    return `has a name that no model can call; one is letters, digits, _ and -, at most ${62 - server.length} of them`;
  }
  if (taken.has(normalName(name))) return 'is there twice';
  if (schema === undefined || !isJsonObject(schema) || schema['type'] !== 'object') {
    return 'takes something else than named arguments (its inputSchema has no type: object)';
  }
  if (isDeep(schema)) return `has an inputSchema of more than ${deepest} levels`;
  if (JSON.stringify(schema).length > longestSchema)
    return 'has an inputSchema of more than 16 KiB';
  return null;
}

function offeredTool(
  name: string,
  said: JsonValue | undefined,
  schema: JsonValue | undefined,
): OfferedTool {
  const description = cutToRunes(
    clean(typeof said === 'string' ? said : '').trim(),
    longestDescription,
  );
  const parameters = cleaned(schema ?? {}) as JsonObject;
  const canonical = canonicalize({ description, parameters }) ?? '';
  const sha256 = createHash('sha256').update(canonical).digest('hex');
  return { name, description, parameters, sha256 };
}

/** Goes down level by level, as a schema that is too deep would take the stack of a function that calls itself. */
function isDeep(schema: JsonObject): boolean {
  let level: JsonValue[] = [schema];
  for (let depth = 0; level.length > 0; depth += 1) {
    if (depth > deepest) return true;
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null ? Object.values(value) : [],
    );
  }
  return false;
}

function cleaned(value: JsonValue): JsonValue {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map(cleaned);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [clean(key), cleaned(item)]),
  );
}

function clean(text: string): string {
  return text.toWellFormed().replaceAll(unseen, '');
}
