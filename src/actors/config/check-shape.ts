import type * as z from 'zod';
import type { JsonObject } from '../../machines/json.ts';
import { errorAt, type Finding, type Path } from './config-problem.ts';
import { describeIssue } from './describe-issue.ts';
import { PartialConfig, valueAt } from './partial-config.ts';
import { type ServiceConfig, serviceSchema } from './service-schema.ts';

/** A configuration with its schema findings. */
export interface Shape {
  /** Complete even if there are findings: invalid values are omitted, so all other checks can run. */
  config: ServiceConfig;
  findings: Finding[];
  /** Paths of the omitted values. */
  dropped: readonly Path[];
  /** Maps a path in `config` to its path in the file. */
  original: (path: Path) => Path;
}

/** Validates a file against the schema and fills in the defaults. */
export function checkShape(value: JsonObject): Shape {
  const partial = new PartialConfig(value);
  let findings: Finding[] | undefined;
  for (;;) {
    const result = serviceSchema.safeParse(partial.rest, { error: describeIssue, jitless: true });
    const issues = (result.error?.issues ?? []).flatMap(insideList);
    findings ??= issues
      .filter((issue) => !isIdle(issue, value))
      .map(({ path, message }) => errorAt(path as Path, `${path.join('.')}: ${message}`));
    if (result.success) {
      const { dropped } = partial;
      return { config: result.data, findings, dropped, original: (path) => partial.original(path) };
    }
    partial.drop(issues.map(({ path }) => path as Path));
    // The only key without a default; any id lets the other checks run.
    if (!Object.hasOwn(partial.rest, 'agent_id')) partial.rest['agent_id'] = 'unknown';
  }
}

type Issue = z.core.$ZodIssue;

/** Replaces the issue of a rule or list of rules by the issues inside the form that was written. */
function insideList(issue: Issue): Issue[] {
  // A union with its own message needs no more.
  const isPlain = issue.code === 'invalid_union' && issue.message === 'Invalid input';
  const written = isPlain ? writtenForm(issue.errors) : null;
  if (written === null) return [issue];
  return written
    .map((each): Issue => ({ ...each, path: [...issue.path, ...each.path] }))
    .flatMap(insideList);
}

/** Returns the issues of the form that was written: a list, one rule, or one of the two kinds of rules of `defer`. */
function writtenForm([first = [], second = [], ...others]: Issue[][]): Issue[] | null {
  if (others.length > 0) return null;
  if (second.some((each) => isRoot(each) && expects(each, 'array'))) {
    return first.some((each) => isRoot(each) && each.code === 'invalid_type') ? null : first;
  }
  if (first.some((each) => isRoot(each) && each.code !== 'unrecognized_keys')) {
    return second.every((each) => isRoot(each)) ? null : second;
  }
  return first.some(({ path }) => path.length === 1 && path[0] === 'allow') ? second : null;
}

/** Parts of `security` that are no layers and cannot be off. */
const alwaysOn: ReadonlySet<string> = new Set(['policy', 'limits', 'effects']);

function isRoot({ path }: Issue): boolean {
  return path.length === 0;
}

function expects(issue: Issue, kind: string): boolean {
  return 'expected' in issue && issue.expected === kind;
}

/**
 * True for an issue inside a layer that is off, unless its value has the wrong type or is not an allowed one
 * (docs/contract/step-up.md).
 */
function isIdle(issue: { code: string; path: PropertyKey[] }, value: JsonObject): boolean {
  if (issue.code === 'invalid_type' || issue.code === 'invalid_value') return false;
  const [section, layer] = issue.path;
  if (section !== 'security' || typeof layer !== 'string' || alwaysOn.has(layer)) return false;
  return valueAt(value, ['security', layer, 'enabled']) !== true;
}
