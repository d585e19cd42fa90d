/** What intent alignment says about one tool call; `warn` lets it go on and is recorded. */
export type AlignmentDecision = 'allow' | 'warn' | 'deny';

/** Two scores, each within -1 and 1. */
export interface AlignmentThresholds {
  /** A score below it is a warning. */
  threshold: number;
  /** A score below it denies the call; no score is below -1, so -1 never denies. */
  hardThreshold: number;
}

/** When the scores of one task count as a drift away from what was asked for. */
export interface DriftRule {
  /** How many of the last scores are averaged. */
  window: number;
  /** A mean below it is a drift; within -1 and 1. */
  driftThreshold: number;
  /** So many last scores, each lower than the one before, are a drift; at least two. */
  monotoneN: number;
}

/**
 * Returns the cosine of the angle between two vectors, within -1 and 1. `null` when there is none: the
 * vectors differ in length, are empty or zero, or hold something else than finite numbers.
 */
export function cosine(one: readonly number[], other: readonly number[]): number | null {
  if (one.length !== other.length) return null;
  const peaks = [peakOf(one), peakOf(other)] as const;
  if (!peaks.every((peak) => Number.isFinite(peak) && peak > 0)) return null;
  let product = 0;
  let oneSquared = 0;
  let otherSquared = 0;
  for (let index = 0; index < one.length; index += 1) {
    // Divided by the peak, no square runs over and the largest never vanishes.
    const left = (one[index] ?? Number.NaN) / peaks[0];
    const right = (other[index] ?? Number.NaN) / peaks[1];
    product += left * right;
    oneSquared += left * left;
    otherSquared += right * right;
  }
  const score = product / Math.sqrt(oneSquared * otherSquared);
  return Number.isFinite(score) ? Math.min(1, Math.max(-1, score)) : null;
}

/**
 * Rules on a score (docs/contract/governance.md): below the hard threshold the call is denied, below the threshold it
 * is warned of; equality passes. A hard threshold of -1 never denies. What is not a number is denied.
 */
export function scoreIntent(
  score: number,
  { threshold, hardThreshold }: AlignmentThresholds,
): { decision: AlignmentDecision; reason: string } {
  // Asked the other way round, so that NaN on either side never passes.
  if (!(score >= hardThreshold)) {
    const reason = `score ${printScore(score, hardThreshold)} is below the hard threshold ${printLimit(hardThreshold)}`;
    return { decision: 'deny', reason };
  }
  const shown = `score ${printScore(score, threshold)}`;
  return score >= threshold
    ? { decision: 'allow', reason: `${shown} meets the threshold ${printLimit(threshold)}` }
    : { decision: 'warn', reason: `${shown} is below the threshold ${printLimit(threshold)}` };
}

/**
 * Finds a drift at the end of a task's scores, oldest first: the mean of a full window is below the drift
 * threshold, or the last scores fell one after the other. `null` when there is none. A drift is told of
 * and never decides.
 */
export function findDrift(
  scores: readonly number[],
  { window, driftThreshold, monotoneN }: DriftRule,
): { reason: string } | null {
  const averaged = scores.slice(-window);
  const mean = averaged.reduce((sum, score) => sum + score, 0) / averaged.length;
  if (averaged.length === window && mean < driftThreshold) {
    const reason = `the mean of the last ${window} scores is ${printScore(mean, driftThreshold)}, below the drift threshold ${printLimit(driftThreshold)}`;
    return { reason };
  }
  const last = scores.slice(-monotoneN);
  if (last.length < monotoneN || !isFalling(last)) return null;
  const list = last.map((score) => score.toFixed(2)).join(', ');
  return { reason: `the last ${monotoneN} scores fell: ${list}` };
}

function peakOf(vector: readonly number[]): number {
  let peak = 0;
  // Math.max hands NaN on.
  for (const number of vector) peak = Math.max(peak, Math.abs(number));
  return peak;
}

function isFalling(scores: readonly number[]): boolean {
  return scores.every((score, index) => index === 0 || score < (scores[index - 1] ?? Number.NaN));
}

/** Two decimals, or as many as it takes to read on the right side of the limit. */
function printScore(score: number, limit: number): string {
  const reads = (digits: number) => Number(score.toFixed(digits)) < limit === score < limit;
  return score.toFixed([2, 4, 8].find(reads) ?? 16);
}

/** Two decimals, or all that were configured. */
function printLimit(limit: number): string {
  return Number(limit.toFixed(2)) === limit ? limit.toFixed(2) : String(limit);
}
