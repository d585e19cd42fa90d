import type { AnyStateNode } from 'xstate';
import { type Arrow, arrowsFrom, withDescendants } from '../statecharts/arrows.ts';

/** A transition between states in which a task can be found, and what sets it off. */
export interface Transition {
  from: string;
  to: string;
  label: string;
}

/** Lists the transitions that leave a state, followed through the states that a task only passes. */
export function transitionsOf(root: AnyStateNode): Transition[] {
  return withDescendants(root)
    .filter((node) => !isPassed(node))
    .flatMap(arrowsFrom)
    .flatMap(({ from, to, label }: Arrow) =>
      to === null
        ? []
        : settlingIn(to).map((end) => ({ from: pathOf(from), to: pathOf(end), label })),
    );
}

/** Returns whether a task never rests in a state, as it always leaves the state at once. */
export function isPassed({ always }: AnyStateNode): boolean {
  return always?.some(({ guard }) => guard === undefined) ?? false;
}

export function pathOf({ path }: AnyStateNode): string {
  return path.join('.');
}

/** The states in which a task comes to rest that enters a state. */
function settlingIn(node: AnyStateNode): AnyStateNode[] {
  if (isPassed(node))
    return arrowsFrom(node).flatMap(({ to }) => (to === null ? [] : settlingIn(to)));
  if (node.type !== 'compound') return [node];
  return node.initial.target.flatMap(settlingIn);
}
