import { isJsonObject } from '../../machines/json.ts';
import { checkAudit } from './check-audit.ts';
import { checkAuditSinks } from './check-audit-sinks.ts';
import { checkAuth } from './check-auth.ts';
import { checkCapture } from './check-capture.ts';
import { checkCard } from './check-card.ts';
import { checkChannelSettings } from './check-channel-settings.ts';
import { checkDefer } from './check-defer.ts';
import { checkEgress } from './check-egress.ts';
import { checkInlineTokens } from './check-inline-tokens.ts';
import { type CompiledLayers, checkLayers } from './check-layers.ts';
import { checkMcp } from './check-mcp.ts';
import { checkModel } from './check-model.ts';
import { checkRuleNames } from './check-rule-names.ts';
import { checkServer } from './check-server.ts';
import { checkShape } from './check-shape.ts';
import { checkStepUp } from './check-step-up.ts';
import { checkStoreSettings } from './check-store-settings.ts';
import { checkSwitches } from './check-switches.ts';
import { checkTools } from './check-tools.ts';
import { checkTracing } from './check-tracing.ts';
import { type ConfigProblem, errorAt, type Finding, type Path } from './config-problem.ts';
import { guardYaml } from './guard-yaml.ts';
import { PathSet } from './path-set.ts';
import { type Placeable, placeFindings } from './place-findings.ts';
import { readTree, type Tree } from './read-tree.ts';
import type { ServiceConfig } from './service-schema.ts';
import { findUnknownKeys } from './unknown-keys.ts';
import { withFilledValues } from './with-filled-values.ts';

/** Result of reading a configuration. */
export type ConfigReading =
  | {
      ok: true;
      config: ServiceConfig;
      /** Compiled rules of `security.guardrails` and `security.modify`. */
      layers: CompiledLayers;
      warnings: ConfigProblem[];
      /** Creates a problem at the key of a path, for checks that need more than the file. */
      problemAt: (path: Path, message: string) => ConfigProblem;
    }
  | { ok: false; problems: ConfigProblem[]; warnings: ConfigProblem[] };

export interface ParseOptions {
  /** File name shown in problems. */
  file: string;
  env: Readonly<Record<string, string | undefined>>;
}

/**
 * Parses a `service.yaml` (docs/contract/configuration.md). Reports all problems at once, in the order of the file;
 * never throws.
 */
export function parseConfig(text: string, options: ParseOptions): ConfigReading {
  const source = text.replace(/^\uFEFF/, '');
  const refusal = guardYaml(source);
  if (refusal) {
    return { ok: false, problems: [{ file: options.file, ...refusal, path: '' }], warnings: [] };
  }
  const tree = readTree(source, options.env);
  const checked = check(tree, options.env);
  const findings = [...tree.complaints, ...checked.findings];
  const { problems, warnings } = placeFindings(findings, tree, options.file);
  if (problems.length > 0 || checked.config === null) return { ok: false, problems, warnings };
  const problemAt = (path: Path, message: string): ConfigProblem => {
    const position = tree.locateKey(path);
    return { message, file: options.file, ...position, path: path.join('.') };
  };
  const { config, layers } = checked;
  return { ok: true, config, layers, warnings, problemAt };
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

function check(tree: Tree, env: ParseOptions['env']): Checked {
  const { value } = tree;
  if (tree.isCut) return { config: null, layers: noLayers, findings: [] };
  if (!isJsonObject(value)) return notMap;
  const { config, findings, dropped, original } = checkShape(value);
  const { findings: inLayers, layers } = checkLayers(config, env);
  const rules = [
    ...checkAuth(config, env),
    ...checkInlineTokens(config, tree.isFilled),
    ...checkAuditSinks(config, env),
    ...checkAudit(config, env),
    ...checkModel(config, env),
    ...checkTools(config),
    ...checkCapture(config),
    ...checkServer(config),
    ...checkStoreSettings(config, env, tree.isWritten),
    ...checkCard(config),
    ...checkStepUp(config),
    ...checkDefer(config, tree.isWritten),
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
