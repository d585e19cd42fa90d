import type { JsonObject } from '../../machines/json.ts';
import type { Finding, Path } from './config-problem.ts';
import { describeIssue } from './describe-issue.ts';
import { PartialConfig, valueAt } from './partial-config.ts';
import { type ServiceConfig, serviceSchema } from './service-schema.ts';

/** A configuration with what is wrong in its shape. */
export interface Shape {
  /** Complete even with findings: what is broken is left out, so that all other checks can be made. */
  config: ServiceConfig;
  findings: Finding[];
  /** What was left out. */
  dropped: readonly Path[];
  /** Finds the place in the file that a place in `config` came from. */
  original: (path: Path) => Path;
}

/** Checks the values of a file against the schema and fills in the defaults. */
export function checkShape(value: JsonObject): Shape {
  const partial = new PartialConfig(value);
  let findings: Finding[] | undefined;
  for (;;) {
    const result = serviceSchema.safeParse(partial.rest, { error: describeIssue, jitless: true });
    const issues = result.error?.issues ?? [];
    findings ??= issues
      .filter((issue) => !isIdle(issue, value))
      .map(({ path, message }) => findingAt(path as Path, message));
    if (result.success) {
      const { dropped } = partial;
      return { config: result.data, findings, dropped, original: (path) => partial.original(path) };
    }
    partial.drop(issues.map(({ path }) => path as Path));
    // The one key without a default: any id will do to go on with the other checks.
    if (!Object.hasOwn(partial.rest, 'agent_id')) partial.rest['agent_id'] = 'unknown';
  }
}

function findingAt(path: Path, message: string): Finding {
  return { path, message: `${path.join('.')}: ${message}`, severity: 'error' };
}

/** True for an issue inside a layer that is off, unless its value cannot be read (docs/contract/step-up.md). */
function isIdle(issue: { code: string; path: PropertyKey[] }, value: JsonObject): boolean {
  if (issue.code === 'invalid_type' || issue.code === 'invalid_value') return false;
  const [section, layer] = issue.path;
  if (section !== 'security' || typeof layer !== 'string') return false;
  return valueAt(value, ['security', layer, 'enabled']) !== true;
}
