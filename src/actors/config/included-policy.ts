import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';
import { type ConfigProblem, errorAt, type Finding, type Path } from './config-problem.ts';
import { guardYaml } from './guard-yaml.ts';
import type { Placeable } from './place-findings.ts';
import { placeFindings } from './place-findings.ts';
import { readTree, type Tree } from './read-tree.ts';
import type { IncludedPolicy, ServiceConfig } from './service-schema.ts';

/** An entry of `security.policy.include`. */
export type IncludeEntry = ServiceConfig['security']['policy']['include'][number];

/** The text of an included policy, or one sentence about why it cannot be read. */
export type IncludeReading =
  | {
      ok: true;
      text: string;
      /** Name in problems and rules. */
      file: string;
      /** Path in the agent's folder; `null` for a policy from a URL. */
      path: string | null;
    }
  | { ok: false; message: string; path: string | null };

/** Reads an entry; `from` is the path of the file that has it. Never throws. */
export type ReadInclude = (entry: IncludeEntry, from: string) => IncludeReading;

/** An included policy with its text, for checks that name places in it. */
export interface ReadPolicy extends IncludedPolicy {
  tree: Tree;
}

/** The included policies, and all problems found in them. */
export interface IncludedReading {
  policies: ReadPolicy[];
  problems: ConfigProblem[];
  warnings: ConfigProblem[];
  /** Every file that was looked for, relative to the agent's folder. */
  files: string[];
}

interface IncludePorts {
  file: string;
  env: Readonly<Record<string, string | undefined>>;
  read: ReadInclude;
  /** Checks a policy as if it were in the configuration. */
  check: (
    tree: Tree,
    security: JsonValue,
  ) => { config: ServiceConfig | null; findings: Placeable[] };
}

/** The files from `service.yaml` to the one that is read. */
type Trail = readonly { file: string; tree: Tree }[];

/** Reads the included policies of a configuration, and those that they include, in order. */
export function readIncluded(
  security: ServiceConfig['security'],
  tree: Tree,
  ports: IncludePorts,
): IncludedReading {
  const reading: IncludedReading = { policies: [], problems: [], warnings: [], files: [] };
  const trail = [{ file: ports.file, tree }];
  for (const [index, entry] of security.policy.include.entries()) {
    readEntry(entry, index, { ...ports, trail, reading });
  }
  return reading;
}

function readEntry(
  entry: IncludeEntry,
  index: number,
  { trail, reading, ...ports }: IncludePorts & { trail: Trail; reading: IncludedReading },
): void {
  const [{ file: from, tree } = { file: '', tree: null }] = trail.toReversed();
  const refuse = (message: string): void => {
    if (tree === null) return;
    const path: Path = ['security', 'policy', 'include', index];
    reading.problems.push(...placeFindings([errorAt(path, message)], tree, from).problems);
  };
  const found = ports.read(entry, from);
  if (found.path !== null) reading.files.push(found.path);
  if (!found.ok) return refuse(found.message);
  const { file, path, text } = found;
  if (trail.some((one) => one.file === file)) {
    return refuse(
      `${[...trail.map((one) => one.file), file].join(' includes ')}; remove one of these entries`,
    );
  }
  // A policy that is included twice counts once.
  if (reading.policies.some((one) => one.file === file)) return;
  const source = text.replace(/^\uFEFF/, '');
  const refusal = guardYaml(source);
  if (refusal !== null) return void reading.problems.push({ file, ...refusal, path: '' });
  const read = readTree(source, ports.env);
  const checked = checkText(read, ports.check);
  const placed = placeFindings([...read.complaints, ...checked.findings], read, file);
  reading.problems.push(...placed.problems);
  reading.warnings.push(...placed.warnings);
  if (placed.problems.length > 0 || checked.security === null) return;
  const policy = { file, path, security: checked.security, tree: read };
  reading.policies.push(policy);
  for (const [next, nested] of policy.security.policy.include.entries()) {
    readEntry(nested, next, { ...ports, trail: [...trail, { file, tree: read }], reading });
  }
}

function checkText(
  tree: Tree,
  check: IncludePorts['check'],
): { security: ServiceConfig['security'] | null; findings: Placeable[] } {
  const { value } = tree;
  const misplaced = strangeKeys(value);
  if (tree.isCut || misplaced.length > 0 || !isJsonObject(value)) {
    return { security: null, findings: misplaced };
  }
  const { config, findings } = check(tree, value['security'] ?? {});
  return {
    security: config?.security ?? null,
    findings: findings.filter(({ path: [section] }) => section === 'security'),
  };
}

/** The keys of `security` that a policy may bring; every other key belongs to the agent. */
const keysOfPolicy: Readonly<Record<string, readonly string[] | null>> = {
  guardrails: null,
  step_up: null,
  modify: null,
  defer: [
    ...['enabled', 'default_timeout', 'default_approvers', 'bind_approver'],
    ...['on_reject', 'on_timeout', 'tools'],
  ],
  policy: ['environment', 'include'],
  limits: null,
  effects: null,
};

function strangeKeys(value: JsonValue): (Finding & { isKey: true })[] {
  const strange = (path: Path) => {
    const name = path.join('.');
    const message = `${name} cannot be in an included policy; write it in service.yaml`;
    return { ...errorAt(path, message), isKey: true as const };
  };
  if (!isJsonObject(value) || !isJsonObject(value['security'] ?? null)) {
    const message = 'an included policy must be a map with the key security, as in service.yaml';
    return [{ ...errorAt([], message), isKey: true }];
  }
  const security = value['security'] as JsonObject;
  const others = Object.keys(value).filter((key) => key !== 'security');
  const layers = Object.entries(security).flatMap(([layer, content]) => {
    const known = Object.hasOwn(keysOfPolicy, layer) ? keysOfPolicy[layer] : undefined;
    if (known === undefined) return [strange(['security', layer])];
    if (known === null || !isJsonObject(content)) return [];
    return Object.keys(content)
      .filter((key) => !known.includes(key))
      .map((key) => strange(['security', layer, key]));
  });
  return [...others.map((key) => strange([key])), ...layers];
}
