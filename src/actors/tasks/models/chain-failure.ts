import type { ModelName } from '../../../machines/domain/model-speaker.ts';
import { formatDuration } from '../../../machines/duration.ts';
import type { Candidate } from '../../../machines/models/fallback-machine.ts';
import type { FailedCall } from '../../../machines/models/model-call.ts';
import { nameOf } from './model-subject.ts';

/**
 * Describes in one sentence why no model of a chain answered: the last failure of each, or the remaining cooldown if
 * none was called. `now` is in epoch milliseconds.
 */
export function chainFailure(
  failures: readonly FailedCall[],
  candidates: readonly Candidate[],
  now: number,
): string {
  const texts = new Map(failures.map((failure) => [keyOf(failure), failure.text]));
  if (texts.size === 0) return candidates.map((one) => resting(one, now)).join('; ');
  const said = [...texts.values()].join('; ');
  return texts.size === 1 ? said : `no model answered: ${said}`;
}

function resting(candidate: Candidate, now: number): string {
  const seconds = Math.max(1, Math.ceil((candidate.readyAt - now) / 1_000));
  const rest = formatDuration(seconds * 1_000);
  return `${nameOf(candidate)} failed a moment ago and is retried in ${rest}; try again then`;
}

function keyOf({ provider, model }: ModelName): string {
  return `${provider} ${model}`;
}
