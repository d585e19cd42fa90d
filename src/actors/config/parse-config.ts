import { isJsonObject, type JsonObject, type JsonValue } from '../../machines/json.ts';
import { checkApprovals, checkDashboard } from './check-approvals.ts';
import { checkAudit } from './check-audit.ts';
import { checkAuditSinks } from './check-audit-sinks.ts';
import { checkAuth } from './check-auth.ts';
import { checkEffectKeys, checkSharedEffects } from './check-bounds.ts';
import { checkCapture } from './check-capture.ts';
import { checkCard } from './check-card.ts';
import { checkChannelSettings } from './check-channel-settings.ts';
import { checkDefer } from './check-defer.ts';
import { checkEgress } from './check-egress.ts';
import { checkGate } from './check-gate.ts';
import { checkIncludeOrder } from './check-include-order.ts';
import { checkInlineTokens } from './check-inline-tokens.ts';
import { type CompiledLayers, checkLayers } from './check-layers.ts';
import { checkLoosening } from './check-loosening.ts';
import { checkMcp } from './check-mcp.ts';
import { checkMetrics } from './check-metrics.ts';
import { checkModel } from './check-model.ts';
import { checkRuleNames } from './check-rule-names.ts';
import { checkServer } from './check-server.ts';
import { checkShape } from './check-shape.ts';
import { checkSharedApprovers } from './check-shared-approvers.ts';
import { checkStepUp } from './check-step-up.ts';
import { checkStoreSettings } from './check-store-settings.ts';
import { checkSwitches } from './check-switches.ts';
import { checkTools } from './check-tools.ts';
import { checkTracing } from './check-tracing.ts';
import { type ConfigProblem, errorAt, type Finding, type Path } from './config-problem.ts';
import { guardYaml } from './guard-yaml.ts';
import { type ReadInclude, type ReadPolicy, readIncluded } from './included-policy.ts';
import { PathSet } from './path-set.ts';
import { type Placeable, placeFindings } from './place-findings.ts';
import { readTree, type Tree } from './read-tree.ts';
import type { ServiceConfig } from './service-schema.ts';
import { findUnknownKeys } from './unknown-keys.ts';
import { withFilledValues } from './with-filled-values.ts';

/** Result of reading a configuration. */
export type ConfigReading = (
  | {
      ok: true;
      config: ServiceConfig;
      /** Compiled rules of `security.guardrails` and `security.modify`. */
      layers: CompiledLayers;
      warnings: ConfigProblem[];
      /** The configuration itself, and it with each included policy in place of its own, to check and place rules. */
      policies: readonly PlacedPolicy[];
      /** Creates a problem at the key of a path, for checks that need more than the file. */
      problemAt: (path: Path, message: string) => ConfigProblem;
    }
  | { ok: false; problems: ConfigProblem[]; warnings: ConfigProblem[] }
) & {
  /** Files of included policies, found or not, relative to the agent's folder. */
  files: readonly string[];
};

/** A configuration, and a function that creates a problem at the key of a path in its file. */
export interface PlacedPolicy {
  config: ServiceConfig;
  problemAt: (path: Path, message: string) => ConfigProblem;
}

export interface ParseOptions {
  /** File name shown in problems. */
  file: string;
  env: Readonly<Record<string, string | undefined>>;
  /** Reads included policies; without it a configuration that includes one is refused. */
  readInclude?: ReadInclude;
}

/**
 * Parses a `service.yaml` (docs/contract/configuration.md). Reports all problems at once, in the order of the file;
 * never throws.
 */
export function parseConfig(text: string, options: ParseOptions): ConfigReading {
  const source = text.replace(/^\uFEFF/, '');
  const refusal = guardYaml(source);
  if (refusal) {
    const problems = [{ file: options.file, ...refusal, path: '' }];
    return { ok: false, problems, warnings: [], files: [] };
  }
  const tree = readTree(source, options.env);
  const checked = check(tree, tree.value, options.env);
  const findings = [...tree.complaints, ...checked.findings];
  const { problems, warnings } = placeFindings(findings, tree, options.file);
  if (problems.length > 0 || checked.config === null) {
    return { ok: false, problems, warnings, files: [] };
  }
  const { config: own, layers } = checked;
  const included = readIncluded(own.security, tree, {
    ...options,
    read: options.readInclude ?? (() => ({ ok: false, message: unreadable, path: null })),
    check: (read, security) =>
      check(read, { ...(tree.value as JsonObject), security }, options.env),
  });
  const { files, policies } = included;
  const looser = policies.flatMap((one) => checkLoosening(own, tree.isWritten, one));
  const placed = placeFindings(looser, tree, options.file);
  const joint = contradictions([{ ...own, tree, file: options.file }, ...policies]);
  // A looser list of approvers is reported once.
  const unmet = placed.problems.length > 0 ? [] : joint.problems;
  const found = [...placed.problems, ...unmet, ...included.problems];
  warnings.push(...joint.warnings, ...included.warnings);
  if (found.length > 0) return { ok: false, problems: found, warnings, files };
  const config: ServiceConfig =
    policies.length === 0
      ? own
      : { ...own, included: policies.map(({ tree: _, ...policy }) => policy) };
  const problemAt = placing(tree, options.file);
  const others = policies.map(({ file, security, tree: read }) => ({
    // The credentials belong to the agent and are checked with it.
    config: { ...own, security, credentials: [] },
    problemAt: placing(read, file),
  }));
  const all = [{ config, problemAt }, ...others];
  return { ok: true, config, layers, warnings, problemAt, policies: all, files };
}

/** Finds rules of two policies that cannot both apply to a call. */
function contradictions(policies: readonly Pick<ReadPolicy, 'security' | 'tree' | 'file'>[]) {
  const reports = policies.flatMap((one, index) =>
    policies.slice(index + 1).map((other) => {
      const findings = [...checkSharedApprovers(one, other), ...checkSharedEffects(one, other)];
      // The agent's own rules always come first.
      if (index > 0) findings.push(...checkIncludeOrder(one, other));
      return placeFindings(findings, one.tree, one.file);
    }),
  );
  return {
    problems: reports.flatMap(({ problems }) => problems),
    warnings: reports.flatMap(({ warnings }) => warnings),
  };
}

const unreadable = 'included policies cannot be read here; check the agent in its folder';

function placing(tree: Tree, file: string): PlacedPolicy['problemAt'] {
  return (path, message) => ({ message, file, ...tree.locateKey(path), path: path.join('.') });
}

interface Checked {
  config: ServiceConfig | null;
  layers: CompiledLayers;
  findings: Placeable[];
}

const noLayers: CompiledLayers = { guardrails: null, modify: null };

const notMap: Checked = {
  config: null,
  layers: noLayers,
  findings: [errorAt([], 'the file must be a map of keys and values, such as agent_id: refunds')],
};

function check(tree: Tree, value: JsonValue, env: ParseOptions['env']): Checked {
  if (tree.isCut) return { config: null, layers: noLayers, findings: [] };
  if (!isJsonObject(value)) return notMap;
  const { config, findings, dropped, original } = checkShape(value);
  const { findings: inLayers, layers } = checkLayers(config, env);
  const rules = [
    ...checkAuth(config, env),
    ...checkApprovals(config, env),
    ...checkDashboard(config),
    ...checkInlineTokens(config, tree.isFilled),
    ...checkAuditSinks(config, env),
    ...checkAudit(config, env),
    ...checkModel(config, env),
    ...checkTools(config),
    ...checkCapture(config),
    ...checkServer(config),
    ...checkMetrics(config, env),
    ...checkStoreSettings(config, env, tree.isWritten),
    ...checkCard(config),
    ...checkStepUp(config),
    ...checkGate(config, tree.isWritten),
    ...checkDefer(config, tree.isWritten),
    ...checkEffectKeys(config),
    ...checkRuleNames(config),
    ...checkChannelSettings(config),
    ...checkEgress(config),
    ...checkMcp(config),
    ...inLayers,
    ...checkTracing(config, env),
    ...checkSwitches(tree),
  ].map((finding) => ({ ...finding, path: original(finding.path) }));
  const unreadable = tree.complaints.map(({ path }) => path).filter((path) => path.length > 0);
  const unparsed = new PathSet(unreadable);
  const broken = new PathSet([...unreadable, ...dropped]);
  return {
    config: withFilledValues(config, (path) => tree.filledAt(original(path))),
    layers,
    findings: [
      ...findings.filter(({ path }) => !unparsed.touches(path)),
      ...rules.filter((finding) => !followsFrom(broken, finding)),
      ...findUnknownKeys(value).map((finding) => ({ ...finding, isKey: true })),
    ],
  };
}

/** True for a finding that depends on an invalid value; it is withheld until that value is fixed. */
function followsFrom(broken: PathSet, { path, restsOn = [] }: Finding): boolean {
  return [path, ...restsOn].some((place) => broken.touches(place));
}
