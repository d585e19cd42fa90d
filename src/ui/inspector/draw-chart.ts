import type { Group } from './actor-log.ts';
import { element } from './element.ts';
import { activePaths, type StateNode } from './state-tree.ts';

/** Draws a task's chart as nested boxes with its current state, its past states, and the rest. */
export function drawChart(group: Group): HTMLElement {
  const active = new Set(activePaths(group.value));
  const draw = (state: StateNode): HTMLElement => {
    const isNow = active.has(state.path);
    const isInmost = isNow && state.states.length === 0;
    const standing = isNow ? 'now' : group.been.has(state.path) ? 'been' : 'ahead';
    const kind = [
      'state',
      standing,
      ...(state.states.length > 0 ? ['outer'] : []),
      ...(state.isFinal ? ['final'] : []),
    ];
    return element(
      'li',
      {
        class: kind.join(' '),
        'data-state': state.path,
        ...(state.description === '' ? {} : { title: state.description }),
        ...(isInmost ? { 'aria-current': 'step' } : {}),
      },
      element('span', {}, state.name),
      ...(state.states.length === 0 ? [] : [element('ul', {}, ...state.states.map(draw))]),
    );
  };
  return element('ul', { class: `chart ${toneOf(group)}` }, ...group.chart.states.map(draw));
}

/** Returns the colour: amber for a wait for a person, green and red for the outcome, none for a running task. */
export function toneOf({ value }: Pick<Group, 'value'>): string {
  const [outmost = ''] = activePaths(value);
  const tones: Record<string, string> = { deferred: 'hold', completed: 'allow', failed: 'deny' };
  return tones[outmost] ?? 'plain';
}
