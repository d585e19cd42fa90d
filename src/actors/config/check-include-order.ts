import { deciders } from '../../machines/governance/quorum.ts';
import { matchesName } from '../tool-name.ts';
import { errorAt, type Finding } from './config-problem.ts';
import type { ReadPolicy } from './included-policy.ts';
import { holdingRules, type PlacedRule, placedRules } from './tool-rules.ts';

type Ordered = Pick<ReadPolicy, 'security' | 'file' | 'tree'>;

/**
 * Finds rules of two included policies of which only the order of the entries would decide, so that an agent could loosen
 * one policy by including another: rules that rewrite the same call, and holds at different targets without a list of
 * approvers.
 */
export function checkIncludeOrder(one: Ordered, other: Ordered): Finding[] {
  return [...rewrites(one, other), ...targets(one, other)];
}

function rewrites({ security: one }: Ordered, other: Ordered): Finding[] {
  const { modify } = other.security;
  if (!one.modify.enabled || !modify.enabled) return [];
  return pairs(placedRules('modify', one.modify.tools), placedRules('modify', modify.tools)).map(
    ([{ path }, theirs]) =>
      errorAt(
        path,
        `${placeIn(other, theirs)} rewrites the same call, and the last of two included policies would undo the first; merge these rules in one file`,
      ),
  );
}

function targets({ security: one }: Ordered, other: Ordered): Finding[] {
  const { defer } = other.security;
  if (!one.defer.enabled || !defer.enabled) return [];
  return pairs(holdingRules(one.defer.tools), holdingRules(defer.tools))
    .filter(
      ([{ rule }, theirs]) =>
        deciders(rule, one.defer.default_approvers).approvers === null &&
        deciders(theirs.rule, defer.default_approvers).approvers === null &&
        rule.to.join() !== theirs.rule.to.join(),
    )
    .map(([{ path }, theirs]) =>
      errorAt(
        path,
        `${placeIn(other, theirs)} asks another target, and neither rule names approvers; add approvers to one of them, or ask the same target`,
      ),
    );
}

/** Returns the rules of two lists that may apply to the same call. */
export function pairs<Rule>(
  ours: readonly PlacedRule<Rule>[],
  theirs: readonly PlacedRule<Rule>[],
): [PlacedRule<Rule>, PlacedRule<Rule>][] {
  return ours.flatMap((own) =>
    theirs
      .filter(({ tool }) => matchesName(tool, own.tool) || matchesName(own.tool, tool))
      .map((rule): [PlacedRule<Rule>, PlacedRule<Rule>] => [own, rule]),
  );
}

/** Returns the place of a rule, such as `shared.yaml:4:7`. */
export function placeIn(
  { file, tree }: Ordered,
  { path }: Pick<PlacedRule<unknown>, 'path'>,
): string {
  const { line, column } = tree.locate(path);
  return `${file}:${line}:${column}`;
}
