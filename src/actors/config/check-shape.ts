import type { JsonObject, JsonValue } from '../../machines/json.ts';
import { describeIssue } from './describe-issue.ts';
import type { Finding, Path } from './problem.ts';
import { type ServiceConfig, serviceSchema } from './schema.ts';

/** A configuration with what is wrong in its shape. */
export interface Shape {
  /** Complete even with findings: what is broken has its default, so that all other checks can be made. */
  config: ServiceConfig;
  findings: Finding[];
  /** The places that were dropped for it. */
  dropped: Path[];
}

/** Checks the values of a file against the schema and fills in the defaults. */
export function checkShape(value: JsonObject): Shape {
  const rest = structuredClone(value);
  const dropped: Path[] = [];
  let findings: Finding[] | undefined;
  for (;;) {
    const result = serviceSchema.safeParse(rest, { error: describeIssue });
    if (result.success) return { config: result.data, findings: findings ?? [], dropped };
    const { issues } = result.error;
    findings ??= issues
      .filter((issue) => !isIdle(issue, value))
      .map(({ path, message }) => findingAt(path as Path, message));
    const paths = new Map(issues.map(({ path }) => [JSON.stringify(path), path as Path]));
    for (const path of paths.values()) dropped.push(...drop(rest, path));
  }
}

function findingAt(path: Path, message: string): Finding {
  return { path, message: `${path.join('.')}: ${message}`, severity: 'error' };
}

/** What a layer that is off is told to do is not looked at, as long as it can be read (document 1 section 2.5). */
function isIdle(issue: { code: string; path: PropertyKey[] }, value: JsonObject): boolean {
  if (issue.code === 'invalid_type' || issue.code === 'invalid_value') return false;
  const [section, layer] = issue.path;
  if (section !== 'security' || typeof layer !== 'string') return false;
  return valueAt(value, ['security', layer, 'enabled']) !== true;
}

/** Takes a value out, or the nearest one around it that has a default. */
function drop(value: JsonObject, path: Path): Path[] {
  const key = path.at(-1);
  if (key === undefined) {
    value['agent_id'] = 'unknown';
    return [];
  }
  const parent = valueAt(value, path.slice(0, -1));
  if (parent === undefined) return [];
  if (isMap(parent) && Object.hasOwn(parent, key)) {
    delete parent[key];
    return [path];
  }
  return drop(value, path.slice(0, -1));
}

function valueAt(value: JsonValue, path: Path): JsonValue | undefined {
  let current: JsonValue | undefined = value;
  for (const key of path) {
    if (typeof current !== 'object' || current === null) return undefined;
    current = Object.hasOwn(current, key) ? (current as JsonObject)[key] : undefined;
  }
  return current;
}

function isMap(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
