import * as z from 'zod';
import type { JsonObject, JsonValue } from '../../machines/json.ts';
import { type ForeignKey, foreignKeyOf } from '../../machines/moving/foreign-keys.ts';
import { commandLine } from '../command-line.ts';
import { nearestName } from '../nearest-name.ts';
import type { Finding, Path } from './config-problem.ts';
import { serviceSchema } from './service-schema.ts';

/** Sections in which a mistyped key would silently disable a control (docs/contract/configuration.md). */
const strictSections = new Set(['security', 'auth', 'egress', 'audit']);

/** Returns whether an unknown key is an error in a section of `service.yaml`, rather than a warning. */
export function isStrictSection(section: string): boolean {
  return strictSections.has(section);
}

/** The parts of JSON Schema that describe keys. */
export interface Description {
  const?: JsonValue;
  enum?: JsonValue[];
  properties?: Record<string, Description>;
  additionalProperties?: Description;
  items?: Description;
  anyOf?: Description[];
  oneOf?: Description[];
}

/** Describes the keys that a schema accepts. */
export function describeKeys(schema: z.ZodType): Description {
  return z.toJSONSchema(schema, {
    ...{ io: 'input', unrepresentable: 'any', target: 'draft-7' },
  }) as Description;
}

const sections = new Map<string, Description>();

/** Describes a section of `service.yaml` on demand; describing all of them would take a tenth of the start-up time. */
function sectionDescription(key: string, schema: z.ZodType): Description {
  const description = sections.get(key) ?? describeKeys(schema);
  sections.set(key, description);
  return description;
}

/** Reports every unknown key of `service.yaml`, with the most similar known key. */
export function findUnknownKeys(value: JsonObject): Finding[] {
  const properties = Object.entries(serviceSchema.shape).map(([key, schema]) => {
    const isWritten = Object.hasOwn(value, key);
    return [key, isWritten ? sectionDescription(key, schema) : {}] as const;
  });
  return findKeysUnknownTo({ properties: Object.fromEntries(properties) }, value, placeOf);
}

/** Returns the only map of `service.yaml` with a key of this name; `null` for none or several. */
function placeOf(key: string): Path | null {
  const found = Object.entries(serviceSchema.shape).flatMap(([section, schema]) =>
    placesIn(sectionDescription(section, schema), key, [section]),
  );
  const places = new Map(found.map((path) => [path.join('.'), path]));
  const [place] = places.values();
  return places.size === 1 ? (place ?? null) : null;
}

function placesIn(description: Description, key: string, path: Path): Path[] {
  return optionsOf(description).flatMap(({ properties = {} }) => [
    ...(Object.hasOwn(properties, key) ? [path] : []),
    ...Object.entries(properties).flatMap(([name, inner]) => placesIn(inner, key, [...path, name])),
  ]);
}

/** Reports every unknown key of a file, like `findUnknownKeys`. `placeOf` returns where a key belongs instead. */
export function findKeysUnknownTo(
  known: Description,
  value: JsonObject,
  placeOf: PlaceOf = () => null,
): Finding[] {
  return unknownIn(value, known, [], placeOf);
}

type PlaceOf = (key: string) => Path | null;

function unknownIn(
  value: JsonValue,
  description: Description,
  path: Path,
  placeOf: PlaceOf,
): Finding[] {
  if (typeof value !== 'object' || value === null) return [];
  const options = optionsOf(description);
  const possible = options.filter((option) => mayDescribe(option, value));
  if (Array.isArray(value)) {
    const items = possible.find((option) => option.items)?.items;
    return items
      ? value.flatMap((item, index) => unknownIn(item, items, [...path, index], placeOf))
      : [];
  }
  return Object.entries(value).flatMap(([key, child]) =>
    unknownAt([key, child], possible, path, placeOf),
  );
}

function optionsOf(description: Description): Description[] {
  const options = description.anyOf ?? description.oneOf;
  return options === undefined ? [description] : options.flatMap(optionsOf);
}

function unknownAt(
  [key, child]: [key: string, child: JsonValue],
  possible: readonly Description[],
  path: Path,
  placeOf: PlaceOf,
): Finding[] {
  const known = possible.map((option) => option.properties).filter((keys) => keys !== undefined);
  const owner = known.find((keys) => Object.hasOwn(keys, key));
  if (owner?.[key]) return unknownIn(child, owner[key], [...path, key], placeOf);
  const others = possible.find((option) => option.additionalProperties)?.additionalProperties;
  if (others) return unknownIn(child, others, [...path, key], placeOf);
  if (known.length === 0) return [];
  const at = [...path, key];
  // A common mistake: a setting written next to `type` instead of under `settings`.
  if (known.some(({ settings }) => Object.hasOwn(settings?.properties ?? {}, key))) {
    return [unknownKey(at, `it belongs under settings: write settings.${key}`)];
  }
  const foreign = foreignKeyOf(at);
  if (foreign !== null) return [foreignKey(at, foreign)];
  const near = nearestName(
    key,
    known.flatMap((keys) => Object.keys(keys)),
  );
  if (near !== null) return [unknownKey(at, `did you mean ${near}?`, near)];
  const place = placeOf(key);
  return place === null
    ? [unknownKey(at, 'remove it')]
    : [unknownKey(at, `it belongs under ${place.join('.')}`, String(place[0]))];
}

/** Excludes alternatives whose constants, such as a provider's type, differ from the written values. */
function mayDescribe({ properties = {} }: Description, value: JsonValue): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return true;
  return Object.entries(properties).every(([key, { const: only, enum: choices }]) => {
    const written = value[key];
    if (written === undefined) return true;
    if (only !== undefined) return written === only;
    return choices === undefined || choices.includes(written);
  });
}

/** A key of another product; losing one that restricts something is an error. */
function foreignKey(path: Path, { to, lost, isControl = false }: ForeignKey): Finding {
  const isError = isControl || isStrictSection(String(path[0]));
  const advice =
    to === undefined
      ? `it belongs to another product, and ${lost}`
      : `it belongs to another product and is ${to} here; ${commandLine('import')} moves a whole file`;
  const message = `${path.join('.')}: unknown key; ${advice}`;
  return { path, message, severity: isError ? 'error' : 'warning' };
}

/** A mistyped section name disables all controls of a strict section, so it is an error like a key inside it. */
function unknownKey(path: Path, advice: string, near: string | null = null): Finding {
  const section = path.length === 1 && near !== null ? near : String(path[0]);
  const severity = isStrictSection(section) ? 'error' : 'warning';
  const message = `${path.join('.')}: unknown key; ${advice}`;
  return { path, message, severity };
}
