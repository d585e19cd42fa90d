import type { AnyStateNode, AnyTransitionDefinition } from 'xstate';

/** One way through a chart. */
export interface Arrow {
  from: AnyStateNode;
  /** `null` when the transition acts without leaving its state. */
  to: AnyStateNode | null;
  /** What sets it off and under which guard, such as `deferral.decide [isRejection]`. */
  label: string;
  /** Names of its actions, in order. */
  actions: string[];
}

/** Lists every transition that starts in a state, in the order in which XState tries them. */
export function arrowsFrom(node: AnyStateNode): Arrow[] {
  const lists: AnyTransitionDefinition[][] = [...node.transitions.values(), node.always ?? []];
  return lists.flatMap((branches) =>
    branches.flatMap((branch, index) => arrowsOf(node, branch, branches.slice(0, index))),
  );
}

/** Lists a state and everything inside it, outermost first, in the order in which they are written. */
export function withDescendants(node: AnyStateNode): AnyStateNode[] {
  return [node, ...childrenOf(node).flatMap(withDescendants)];
}

export function childrenOf(node: AnyStateNode): AnyStateNode[] {
  return Object.values<AnyStateNode>(node.states);
}

/** The name under which a chart invokes an actor. */
export function actorOf({ id, src }: AnyStateNode['invoke'][number]): string {
  return typeof src === 'string' ? src : id;
}

function arrowsOf(
  from: AnyStateNode,
  branch: AnyTransitionDefinition,
  earlier: AnyTransitionDefinition[],
): Arrow[] {
  const isRest = earlier.some(({ guard }) => guard !== undefined);
  const guard =
    branch.guard === undefined ? (isRest ? 'else' : null) : guardName(branch.guard, from);
  const label = [eventName(branch, from), ...(guard === null ? [] : [`[${guard}]`])].join(' ');
  const actions = branch.actions.map((action) => actionName(action, from));
  const targets: (AnyStateNode | null)[] = [...(branch.target ?? [null])];
  return targets.map((to) => ({ from, to, label, actions }));
}

/** Says in words what XState writes as an internal event type. */
function eventName(branch: AnyTransitionDefinition, node: AnyStateNode): string {
  const type = String(branch.eventType);
  if (type === '') return 'always';
  if (type === '*') return 'any other event';
  const { delay } = branch as { delay?: string | number };
  if (typeof delay === 'number') return `after ${delay} ms`;
  if (delay !== undefined) return `after ${delay}`;
  for (const invoked of node.invoke) {
    const { id } = invoked;
    const actor = actorOf(invoked);
    if (type === `xstate.done.actor.${id}`) return `${actor} done`;
    if (type === `xstate.error.actor.${id}`) return `${actor} failed`;
    if (type === `xstate.snapshot.${id}`) return `${actor} changed`;
  }
  if (type === `xstate.done.state.${node.id}`) return 'done';
  if (type === 'xstate.done.actor.*') return 'any actor done';
  if (type === 'xstate.error.actor.*') return 'any actor failed';
  return type;
}

function guardName(guard: unknown, node: AnyStateNode): string {
  if (typeof guard === 'string') return guard;
  if (isNamed(guard)) return guard.type;
  if (typeof guard === 'function' && 'guards' in guard && Array.isArray(guard.guards)) {
    const names = guard.guards.map((inner) => guardName(inner, node));
    return guard.name === 'not' ? `not ${names.join()}` : names.join(` ${guard.name} `);
  }
  throw new Error(`a guard of state ${node.id} has no name; define it in setup({ guards })`);
}

function actionName(action: unknown, node: AnyStateNode): string {
  if (typeof action === 'string') return action;
  if (isNamed(action)) return action.type;
  throw new Error(`an action of state ${node.id} has no name; define it in setup({ actions })`);
}

function isNamed(value: unknown): value is { type: string } {
  return (
    typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'
  );
}
