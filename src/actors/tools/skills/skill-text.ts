import { readSkillRules } from '../../governance/governance.ts';
import { nearestName } from '../../nearest-name.ts';
import { refusedVariable } from '../../process/process.ts';
import { isSecretName } from '../mcp/server-secrets.ts';
import type { Frontmatter } from './frontmatter.ts';
import { type FrontmatterData, frontmatterSchema } from './frontmatter-schema.ts';
import type { Requirements, Skill } from './skill.ts';
import type { SkillProblem } from './skill-problem.ts';

/** What the text of a skill file says without its scripts; without `skill` the remarks give the reason. */
export interface SkillTextReading {
  skill?: Skill;
  idempotent: boolean | string[];
  problems: SkillProblem[];
  warnings: SkillProblem[];
}

/** Interprets the frontmatter of a skill file, as the start of an agent and `skills validate` do. */
export function readSkillText(file: string, frontmatter: Frontmatter): SkillTextReading {
  const reading: SkillTextReading = { idempotent: false, problems: [], warnings: [] };
  const { problems, warnings } = reading;
  const at: At = (message, path) => ({ message, file, ...frontmatter.locate(path) });
  if ((frontmatter.data['name'] ?? '') === '') {
    warnings.push(at('the file has no name in its frontmatter and is skipped; add one', []));
    return reading;
  }
  const parsed = frontmatterSchema.safeParse(frontmatter.data);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) {
      const place = path.join('.');
      const starts = message.startsWith(String(path.at(-1)));
      problems.push(at(starts ? message : `${place} is not valid: ${message}`, path));
    }
    return reading;
  }
  const skill = describeSkill(file, frontmatter, parsed.data);
  problems.push(
    ...variableProblems(skill.requires, at),
    ...hostProblems(skill, frontmatter, at),
    ...refusedKeys(frontmatter.data, at),
    ...guardrailProblems(skill),
  );
  warnings.push(...unreadKeys(frontmatter.data, at));
  return { ...reading, skill, idempotent: serviceBlock(parsed.data).idempotent ?? false };
}

function describeSkill(file: string, frontmatter: Frontmatter, data: FrontmatterData): Skill {
  const block = serviceBlock(data);
  const { required = [], one_of: oneOf = [], optional = [] } = block.requires?.env ?? {};
  return {
    id: data.name,
    name: data.display_name || data.name,
    description: data.description?.trim() ?? '',
    ...(data.category ? { category: data.category } : {}),
    tags: data.tags,
    file,
    body: frontmatter.body.trim(),
    tools: [],
    requires: { bins: block.requires?.bins ?? [], env: { required, oneOf, optional } },
    egressDomains: [...new Set([...data.egress_domains, ...(block.egress_domains ?? [])])],
    ...(block.held ? { held: block.held } : {}),
    ...(block.timeout_hint ? { timeout: block.timeout_hint * 1000 } : {}),
    ...(block.risk ? { risk: block.risk } : {}),
    ...guardrailsOf(block, frontmatter),
  };
}

/** Tools that are denied next to the rules are rules as well. */
function guardrailsOf(
  { guardrails: rules = null, denied_tools }: ServiceBlock,
  frontmatter: Frontmatter,
): Pick<Skill, 'guardrails'> {
  const denied = denied_tools ?? [];
  const locateRule: Frontmatter['locate'] = (path) =>
    frontmatter.locate([...placeOf(frontmatter.data, 'guardrails'), ...path]);
  const { denied_tools: own = [] } = isMap(rules) ? rules : {};
  // Malformed rules are kept as they are, so that they are reported.
  const isWhole = (rules !== null && !isMap(rules)) || !Array.isArray(own);
  if (denied.length === 0 || isWhole) {
    return rules === null ? {} : { guardrails: { value: rules, locate: locateRule } };
  }
  return {
    guardrails: {
      value: { ...rules, denied_tools: [...own, ...denied] },
      locate: ([list, index, ...rest]) =>
        list === 'denied_tools' && typeof index === 'number' && index >= own.length
          ? frontmatter.locate([...placeOf(frontmatter.data, 'denied_tools'), index - own.length])
          : locateRule([list, index, ...rest].filter((step) => step !== undefined)),
    },
  };
}

type ServiceBlock = NonNullable<NonNullable<FrontmatterData['metadata']>['service']>;

/** Existing skills have the block under another name; keys of our own block take precedence. */
function serviceBlock({ metadata }: FrontmatterData): ServiceBlock {
  return { ...metadata?.forge, ...metadata?.service };
}

/** Returns the path of a key of the block in the frontmatter. */
function placeOf(data: Frontmatter['data'], key: string): string[] {
  const metadata = data['metadata'] as { service?: Record<string, unknown> | null } | null;
  return ['metadata', metadata?.service?.[key] === undefined ? 'forge' : 'service', key];
}

type At = (message: string, path: readonly PropertyKey[]) => SkillProblem;

function variableProblems({ env }: Requirements, at: At): SkillProblem[] {
  return [...env.required, ...env.oneOf, ...env.optional].flatMap((name) => {
    const refusal = refusedVariable(name);
    return refusal ? [at(`requires.env: ${refusal}`, ['metadata'])] : [];
  });
}

/** Returns the name of the variable in an entry such as `$SHOP_HOST`; `null` for a host. */
export function variableOfHost(entry: string): string | null {
  return /^\$(?:(\w+)|\{(\w+)\})$/.exec(entry)?.slice(1).find(Boolean) ?? null;
}

/** A variable that names hosts must be declared and must not be a secret, which the list of hosts would show. */
function hostProblems(
  { egressDomains, requires: { env } }: Skill,
  { data }: Frontmatter,
  at: At,
): SkillProblem[] {
  const declared = [...env.required, ...env.oneOf, ...env.optional];
  return egressDomains.flatMap((entry) => {
    if (!entry.includes('$')) return [];
    const name = variableOfHost(entry);
    const reason =
      name === null
        ? 'write a host, or one variable such as $SHOP_HOST'
        : isSecretName(name)
          ? 'the variable is named like a secret and cannot name hosts'
          : declared.includes(name)
            ? null
            : `list ${name} under metadata.service.requires.env`;
    if (reason === null) return [];
    const top = data['egress_domains'];
    const isTop = Array.isArray(top) && top.includes(entry);
    const path = isTop ? ['egress_domains'] : placeOf(data, 'egress_domains');
    return [at(`egress_domains: ${entry} cannot be read; ${reason}`, path)];
  });
}

function guardrailProblems({ file, guardrails }: Skill): SkillProblem[] {
  if (guardrails === undefined) return [];
  const { value, locate } = guardrails;
  return readSkillRules(value).problems.map(({ path, message }) => ({
    message,
    file,
    ...locate(path),
  }));
}

/** Keys of other products that would change what a skill may do, and cannot be followed. */
function refusedKeys(data: Record<string, unknown>, at: At): SkillProblem[] {
  const problems: SkillProblem[] = [];
  if (data['disable-model-invocation'] === true) {
    const message =
      'disable-model-invocation cannot be kept: the model of the agent opens every skill; remove the key, or the skill';
    problems.push(at(message, ['disable-model-invocation']));
  }
  for (const block of ['forge', 'service']) {
    const written = mapAt(data, ['metadata', block]);
    const path = ['metadata', block];
    const { runtime = 'script' } = written;
    if (runtime !== 'script') {
      const message = `runtime: ${JSON.stringify(runtime)} is not there; add scripts/<tool>.sh that calls the program, and remove the key`;
      problems.push(at(message, [...path, 'runtime']));
    }
    const { capabilities } = mapAt(written, ['requires']);
    if (Array.isArray(capabilities) && capabilities.length > 0) {
      const message = `requires.capabilities: ${capabilities.join(', ')} is not there; give the agent tools for it, such as an MCP server, and remove the key`;
      problems.push(at(message, [...path, 'requires', 'capabilities']));
    }
  }
  return problems;
}

/** Keys that say something about a skill for its readers, and change nothing here. */
const idleKeys = new Set(['workflow_phase', 'trust_hints', 'runtime', 'icon']);

const knownKeys = [
  ...['requires', 'idempotent', 'held', 'egress_domains', 'denied_tools', 'timeout_hint'],
  ...['risk', 'guardrails'],
];

/** Names the keys of the frontmatter that a reader could take for settings and that have no effect. */
function unreadKeys(data: Record<string, unknown>, at: At): SkillProblem[] {
  const warnings: SkillProblem[] = [];
  if (data['allowed-tools'] !== undefined) {
    const message =
      'allowed-tools has no effect; the tools of the agent and the rules under security decide what runs';
    warnings.push(at(message, ['allowed-tools']));
  }
  for (const [block, value] of Object.entries(mapAt(data, ['metadata']))) {
    if (!isMap(value)) continue;
    const path = ['metadata', block];
    if (block !== 'forge' && block !== 'service') {
      const { bins, anyBins, env } = mapAt(value, ['requires']);
      const wanted = [bins, anyBins, env].filter(Array.isArray).flat().map(String);
      if (wanted.length === 0) continue;
      const message = `metadata.${block}.requires asks for ${wanted.join(', ')} and is not checked; list what the scripts need under metadata.service.requires`;
      warnings.push(at(message, [...path, 'requires']));
      continue;
    }
    for (const key of Object.keys(value)) {
      if (knownKeys.includes(key) || idleKeys.has(key)) continue;
      const near = nearestName(key, knownKeys);
      const advice = near === null ? 'it has no effect' : `did you mean ${near}?`;
      warnings.push(at(`metadata.${block}.${key}: unknown key; ${advice}`, [...path, key]));
    }
    const { bins } = mapAt(value, ['requires']);
    for (const [index, bin] of (Array.isArray(bins) ? bins : []).entries()) {
      if (!isMap(bin) || bin['version'] === undefined) continue;
      const message = `requires.bins: the version of ${String(bin['name'])} is not checked; make sure that it fits`;
      warnings.push(at(message, [...path, 'requires', 'bins', index]));
    }
  }
  return warnings;
}

function mapAt(value: unknown, path: readonly string[]): Record<string, unknown> {
  const found = path.reduce<unknown>((at, key) => (isMap(at) ? at[key] : undefined), value);
  return isMap(found) ? found : {};
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
