/** Decision of intent alignment on a tool call; `warn` lets the call run and is recorded. */
export type AlignmentDecision = 'allow' | 'warn' | 'deny';

/** Two scores between -1 and 1. */
export interface AlignmentThresholds {
  /** A lower score is a warning. */
  threshold: number;
  /** A lower score denies the call. No score is below -1, so -1 never denies. */
  hardThreshold: number;
}

/** Conditions under which a task's scores count as drift from the request. */
export interface DriftRule {
  /** Number of latest scores to average. */
  window: number;
  /** A mean below this is a drift; between -1 and 1. */
  driftThreshold: number;
  /** This many strictly decreasing latest scores are a drift; at least two. */
  monotoneN: number;
}

/**
 * Returns the cosine similarity of two vectors, between -1 and 1. `null` if the vectors differ in length, are empty or
 * zero, or contain non-finite values.
 */
export function cosine(one: readonly number[], other: readonly number[]): number | null {
  if (one.length !== other.length) return null;
  const peaks = [peakOf(one), peakOf(other)] as const;
  if (!peaks.every((peak) => Number.isFinite(peak) && peak > 0)) return null;
  let product = 0;
  let oneSquared = 0;
  let otherSquared = 0;
  for (let index = 0; index < one.length; index += 1) {
    // Division by the peak prevents an overflow of the squares and an underflow of the largest value.
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
 * Evaluates a score (docs/contract/governance.md): a score below the hard threshold denies the call, a score below the
 * threshold is a warning, equality passes. A hard threshold of -1 never denies. NaN denies.
 */
export function scoreIntent(
  score: number,
  { threshold, hardThreshold }: AlignmentThresholds,
): { decision: AlignmentDecision; reason: string } {
  // Negated comparison, so NaN on either side never passes.
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
 * Finds a drift in a task's latest scores, given oldest first: the mean of a full window is below the drift threshold,
 * or the last scores decreased strictly. `null` if there is none. A drift is reported and never decides.
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
  // Math.max propagates NaN.
  for (const number of vector) peak = Math.max(peak, Math.abs(number));
  return peak;
}

function isFalling(scores: readonly number[]): boolean {
  return scores.every((score, index) => index === 0 || score < (scores[index - 1] ?? Number.NaN));
}

/** Prints two decimals, or as many as needed to show on which side of the limit the score is. */
function printScore(score: number, limit: number): string {
  const reads = (digits: number) => Number(score.toFixed(digits)) < limit === score < limit;
  return score.toFixed([2, 4, 8].find(reads) ?? 16);
}

/** Prints two decimals, or all configured ones. */
function printLimit(limit: number): string {
  return Number(limit.toFixed(2)) === limit ? limit.toFixed(2) : String(limit);
}
