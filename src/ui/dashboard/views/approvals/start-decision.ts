import { onMount } from 'svelte';
import { createActor } from 'xstate';
import { Observed } from '../../state/observed.ts';
import { decisionMachine } from './decision-machine.ts';

type Actors = NonNullable<Parameters<typeof decisionMachine.provide>[0]['actors']>;

/**
 * Creates the actor of a decision for a component, and observes it until the component is destroyed. The actor starts
 * with the first frame that shows the component: the half-second delay begins then, and a background page renders no
 * frames.
 */
export function startDecision(actors: Actors) {
  const actor = createActor(decisionMachine.provide({ actors }));
  onMount(() => {
    const frame = requestAnimationFrame(() => actor.start());
    return () => {
      cancelAnimationFrame(frame);
      actor.stop();
    };
  });
  return { actor, observed: new Observed(actor) };
}
