import type { Group } from './actor-log.ts';
import { toneOf } from './draw-chart.ts';
import { element } from './element.ts';
import { activePaths } from './state-tree.ts';

/**
 * Renders the selection list: tasks first, most recently active on top, then the other actors. Actors that were never
 * announced are omitted.
 */
export function drawGroups(
  list: HTMLElement,
  groups: Iterable<Group>,
  chosen: string | null,
): void {
  const shown = [...groups]
    .filter(({ chart }) => chart.id !== '')
    .toSorted((one, other) => Number(other.isTask) - Number(one.isTask) || other.at - one.at);
  const focused = document.activeElement?.getAttribute('data-group');
  list.replaceChildren(
    item(null, 'Everything', null, chosen),
    ...shown.map((group) => item(group.name, group.name, group, chosen)),
  );
  if (focused === null || focused === undefined) return;
  for (const button of list.querySelectorAll('button')) {
    if (button.dataset['group'] === focused) button.focus();
  }
}

function item(key: string | null, name: string, group: Group | null, chosen: string | null) {
  const standing = group === null ? '' : standingOf(group);
  const pill =
    group === null || standing === ''
      ? []
      : [element('span', { class: `pill ${toneOf(group)}` }, standing)];
  const button = element(
    'button',
    {
      type: 'button',
      'data-group': key ?? '',
      title: name,
      ...(key === chosen ? { 'aria-current': 'true' } : {}),
    },
    nameOf(name, group),
    ...pill,
  );
  return element('li', {}, button);
}

/** A long name is cut in the middle, because IDs differ at their end. */
function nameOf(name: string, group: Group | null): HTMLElement {
  const split = Math.max(0, name.length - 5);
  return element(
    'span',
    { class: group?.isTask ? 'name mono' : 'name' },
    element('span', {}, name.slice(0, split)),
    element('span', {}, name.slice(split)),
  );
}

/** Returns the outermost state, which is the task's status. */
export function standingOf({ value }: Group): string {
  return activePaths(value)[0] ?? '';
}
