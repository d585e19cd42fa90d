import { expect } from 'vitest';
import { startServer, vectorsBody } from '../../actors/governance/alignment/embedding-server.ts';
import type { Outcome } from '../../helpers/governed-run.ts';
import { judged, layersSay, running, thought } from '../../helpers/governed-words.ts';

const call = { tool: 'pay', args: { amount: 5 } };
/** A payment and the words after it. */
export const script = [call, { say: 'paid' }];
/** Settings under which intent is judged, by letters alone unless they say otherwise. */
export const aligned = (rest: object) => ({
  security: { intent_alignment: { enabled: true, provider: 'local', ...rest } },
});

/** A server by which the amount of a call, in hundredths, is how well it fits what was asked. */
export async function startScores() {
  return startServer(({ body }, response) => {
    const vectors = (body as { input: string[] }).input.map((text) => {
      const score = Number(/"amount":(-?\d+)/.exec(text)?.[1] ?? 100) / 100;
      return [score, Math.sqrt(1 - score * score)];
    });
    response.writeHead(200, { 'content-type': 'application/json' }).end(vectorsBody(vectors));
  });
}

/** Settings under which a server is asked. */
export const remote = (address: string, rest: object = {}) =>
  aligned({ provider: 'openai-compatible', base_url: `${address}/v1`, ...rest });

/** What comes of a payment that was judged and let go. */
export function allowed(event: ReturnType<typeof judged>, reason: unknown): Outcome {
  return {
    state: 'completed',
    text: 'paid',
    events: [thought, event, ...running(), thought],
    decisions: layersSay({ intent_alignment: ['allow', reason as string] }),
    ran: [['pay', call.args]],
  };
}

/** What comes of a payment that does not fit. */
export function misfit(score: unknown, reason: unknown, text: unknown): Outcome {
  return {
    state: 'failed',
    text: text as string,
    events: [thought, judged('deny', score, reason)],
    decisions: layersSay({ intent_alignment: ['deny', text as string] }),
  };
}

/** A reason that names some score. */
export const reasonOf = (words: string) =>
  expect.stringMatching(new RegExp(`^score \\S+ ${words}$`));
/** A score that depends on letters. */
export const anyScore = expect.any(Number);
/** Why every score is let go under a threshold of -1. */
export const enough = 'meets the threshold -1.00';
