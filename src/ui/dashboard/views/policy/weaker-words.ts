import type { ToolRulesJson } from '../../../../http/wire/dashboard/policy-edit-json.ts';

/** Describes in sentences in which ways rules are less strict than before; empty if they are not. */
export function weakerWords(
  before: readonly ToolRulesJson[],
  after: readonly ToolRulesJson[],
): string[] {
  return after.flatMap((rules) => {
    const old = before.find(({ tool }) => tool === rules.tool);
    return old === undefined ? [] : wordsOf(old, rules);
  });
}

/** Describes in sentences which rules apply under another condition. Whether that is weaker depends on the calls. */
export function conditionChanges(
  before: readonly ToolRulesJson[],
  after: readonly ToolRulesJson[],
): string[] {
  const old = new Map(
    before.flatMap(({ conditions }) => conditions.map(({ rule, when }) => [rule, when.trim()])),
  );
  return after
    .flatMap(({ conditions }) => conditions)
    .filter(({ rule, when }) => old.get(rule) !== when.trim())
    .map(({ rule, when }) => {
      const words = when.trim();
      return words === '' ? `${rule} always applies.` : `${rule} applies only if ${words}.`;
    });
}

function wordsOf(old: ToolRulesJson, { tool, deny, defer, acr, modify }: ToolRulesJson): string[] {
  const words: string[] = [];
  if (old.deny && !deny) words.push(`${tool} is no longer denied.`);
  if (old.acr !== '' && acr === '') words.push(`${tool} no longer requires acr ${old.acr}.`);
  else if (old.acr !== acr && old.acr !== '')
    words.push(`${tool} requires acr ${acr} instead of ${old.acr}.`);
  if (old.modify.trim() !== '' && modify.trim() === '')
    words.push(`${tool} is no longer rewritten.`);
  if (old.defer === null) return words;
  if (defer === null) return [...words, `${tool} no longer requires approval.`];
  if (defer.quorum < old.defer.quorum) {
    words.push(`${tool} needs ${defer.quorum} instead of ${old.defer.quorum} approvals.`);
  }
  const known = old.defer.approvers;
  const added = defer.approvers.filter((one) => !known.includes(one));
  if (known.length > 0 && defer.approvers.length === 0) {
    words.push(`${tool} no longer has its own approvers.`);
  } else if (known.length > 0 && added.length > 0) {
    words.push(`${tool} can also be decided by ${added.join(', ')}.`);
  }
  return words;
}
