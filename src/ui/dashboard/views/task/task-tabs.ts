/** The views of a task, by their name in the URL. */
export const taskTabs = [
  { name: 'timeline', title: 'Timeline' },
  { name: 'chart', title: 'Statechart' },
  { name: 'raw', title: 'Raw' },
] as const;

export type TaskTab = (typeof taskTabs)[number]['name'];

/** Reads the view from a URL; defaults to the chart. */
export function tabOf(query: URLSearchParams): TaskTab {
  const named = query.get('view');
  return taskTabs.find(({ name }) => name === named)?.name ?? 'chart';
}
