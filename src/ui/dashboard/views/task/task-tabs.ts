/** The ways to look at a task, by the name in the address. */
export const taskTabs = [
  { name: 'timeline', title: 'Timeline' },
  { name: 'chart', title: 'Statechart' },
  { name: 'raw', title: 'Raw' },
] as const;

export type TaskTab = (typeof taskTabs)[number]['name'];

/** Reads which one an address names; the chart when it names none. */
export function tabOf(query: URLSearchParams): TaskTab {
  const named = query.get('view');
  return taskTabs.find(({ name }) => name === named)?.name ?? 'chart';
}
