import type * as z from 'zod';
import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';
import type { Environment } from './channel-resolution.ts';
import { type ConfigProblem, errorAt, type Finding, type Path } from './config-problem.ts';
import { describeIssue } from './describe-issue.ts';
import { guardYaml } from './guard-yaml.ts';
import { PathSet } from './path-set.ts';
import { type Placeable, placeFindings } from './place-findings.ts';
import { readText } from './read-text.ts';
import { readTree, type Tree } from './read-tree.ts';
import { describeKeys, findKeysUnknownTo } from './unknown-keys.ts';

/** Content and problems of a file next to `service.yaml`. */
export interface SettingsFile<Content> {
  /** `null` if the file is unusable. */
  content: Content | null;
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
  /** Adds file positions to findings. */
  place: (findings: readonly Finding[]) => { problems: ConfigProblem[]; warnings: ConfigProblem[] };
}

export interface SettingsFileOptions<Content> {
  directory: string;
  file: string;
  /** Every key has a default, so the file may be empty. */
  schema: z.ZodType<Content>;
  env: Environment;
  /** Severity of an unknown key. */
  unknownKeys: Finding['severity'];
}

/** Reads a file next to `service.yaml` with the same validation; `null` if there is none. Never throws. */
export function readSettingsFile<Content>(
  options: SettingsFileOptions<Content>,
): SettingsFile<Content> | null {
  const { directory, file, env } = options;
  const reading = readText(directory, file);
  if (reading === null) return null;
  if (!reading.ok) return broken({ file, line: 1, column: 1, path: '', message: reading.message });
  const source = reading.text.replace(/^\uFEFF/, '');
  const refusal = guardYaml(source, { mayBeEmpty: true });
  if (refusal) return broken({ file, ...refusal, path: '' });
  const tree = readTree(source, env);
  const { content, findings } = check(tree, options);
  const place = (list: readonly Placeable[]) => withoutSecrets(placeFindings(list, tree, file));
  const { problems, warnings } = place([...tree.complaints, ...findings]);
  return { content: problems.length > 0 ? null : content, problems, warnings, place };
}

function broken(problem: ConfigProblem): SettingsFile<never> {
  const place = () => ({ problems: [], warnings: [] });
  return { content: null, ...withoutSecrets({ problems: [problem], warnings: [] }), place };
}

function check<Content>(
  { value, complaints, isCut }: Tree,
  { schema, unknownKeys }: SettingsFileOptions<Content>,
): { content: Content | null; findings: Placeable[] } {
  if (isCut) return { content: null, findings: [] };
  if (value !== null && !isJsonObject(value)) {
    const message = 'the file must be a map of keys and values, such as settings: {}';
    return { content: null, findings: [errorAt([], message)] };
  }
  const written = value ?? {};
  const result = schema.safeParse(withoutEmptySettings(written), { error: describeIssue });
  const issues = (result.error?.issues ?? []).map(({ path, message }) =>
    errorAt(path as Path, `${path.join('.')}: ${message}`),
  );
  const unparsed = new PathSet(complaints.map(({ path }) => path).filter(isInside));
  const mistaken = new PathSet(issues.map(({ path }) => path));
  const findings: Placeable[] = [
    ...issues.filter(({ path }) => !unparsed.touches(path)),
    ...secretsIn(written, []).filter(({ path }) => !mistaken.covers(path)),
    ...findKeysUnknownTo(describeKeys(schema), written).map(
      (finding): Placeable => ({ ...finding, severity: unknownKeys, isKey: true }),
    ),
  ];
  return { content: result.success ? result.data : null, findings };
}

function isInside(path: Path): boolean {
  return path.length > 0;
}

/** A `settings:` whose keys are all commented out counts as absent. */
function withoutEmptySettings({ settings, ...others }: JsonObject): JsonObject {
  return settings === undefined || settings === null ? others : { ...others, settings };
}

/** Matches the formats of chat and webhook secrets. */
const secretText = /(?:xox[a-z]|xapp)-[\w.-]+|whsec_[\w+/=-]+|\d{6,}:[\w-]{30,}/g;

/** Removes secrets from problems: a secret may have been written in place of a key, and keys are displayed. */
function withoutSecrets(all: { problems: ConfigProblem[]; warnings: ConfigProblem[] }) {
  const masked = ({ path, message, ...place }: ConfigProblem): ConfigProblem => ({
    ...place,
    path: path.replace(secretText, '***'),
    message: message.replace(secretText, '***'),
  });
  return { problems: all.problems.map(masked), warnings: all.warnings.map(masked) };
}

function secretsIn(value: JsonValue, path: Path): Finding[] {
  if (typeof value === 'string') {
    const message =
      'this is a secret; put it into an environment variable, and set the key that ends in _env to its name';
    return value.search(secretText) >= 0 ? [errorAt(path, message)] : [];
  }
  if (typeof value !== 'object' || value === null) return [];
  const children = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return children.flatMap(([key, child]) => secretsIn(child, [...path, key]));
}
