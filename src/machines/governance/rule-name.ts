/** A layer of `security` whose rules are listed by tool. */
export type RuleLayer = 'step_up' | 'modify' | 'defer';

/**
 * Returns the name of a rule in decisions and in the log, such as `defer.tools.pay[1]`. A single rule has no
 * index.
 */
export function ruleName(
  layer: RuleLayer,
  tool: string,
  { index, isAlone }: { index: number; isAlone: boolean },
): string {
  return `${layer}.tools.${tool}${isAlone ? '' : `[${index}]`}`;
}

/** Returns the name of a denied tool's rule in decisions and in the log. */
export function denialName(index: number): string {
  return `guardrails.denied_tools[${index}]`;
}

/**
 * Returns the name of a limit or an effect in decisions and in the log, such as `limits.refunds_a_day`. The name of an
 * included one begins with its file, as `shared/payments.yaml#refunds_a_day`.
 */
export function boundName(kind: 'limits' | 'effects', name: string): string {
  const at = name.lastIndexOf('#') + 1;
  return `${name.slice(0, at)}${kind}.${name.slice(at)}`;
}
